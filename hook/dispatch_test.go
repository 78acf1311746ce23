package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/event"
)

var everything = event.Carries{Allow: true, Deny: true, Ask: true, Input: true, Output: true, Context: true, Keep: true,
	Notice: true}

func says(d event.Decision) Handler {
	return HandlerFunc(func(context.Context, *Call) (event.Decision, error) { return d, nil })
}

func at(priority int, r Registration) Registration {
	r.Priority = &priority
	return r
}

func bash(command string) event.Event {
	return event.Event{
		Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore, Cwd: "/w",
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{command}, Input: commandInput(command)},
	}
}

func commandInput(command string) json.RawMessage {
	b, _ := json.Marshal(map[string]string{"command": command})
	return b
}

// readCommands stands for the catalogue: it finds the command in a changed
// input.
func readCommands(ev *event.Event, input json.RawMessage) {
	var in struct{ Command string }
	_ = json.Unmarshal(input, &in)
	ev.Tool.Commands = []string{in.Command}
}

func decide(t testing.TB, ev event.Event, entries ...*Entry) Outcome {
	t.Helper()
	d := Dispatcher{Change: readCommands}
	Sort(entries)
	return d.Decide(context.Background(), Call{Event: &ev, Carries: everything}, Select(entries, &ev, nil))
}

func ran(steps []Step) string {
	var ids []string
	for _, s := range steps {
		id := s.Hook
		if s.Again {
			id += "+"
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

func TestHooksRunByPriority(t *testing.T) {
	nothing := says(event.Decision{})
	out := decide(t, bash("ls"),
		entry(t, at(100, Registration{ID: "c"}), nothing), entry(t, Registration{ID: "d"}, nothing),
		entry(t, at(-1, Registration{ID: "a"}), nothing), entry(t, at(99, Registration{ID: "b"}), nothing),
		entry(t, at(101, Registration{ID: "e"}), nothing))
	if got := ran(out.Steps); got != "a b c d e" {
		t.Errorf(`ran(out.Steps) = %q, want "a b c d e"`, got)
	}
	if !out.Decision.Empty() {
		t.Errorf("nobody said anything: %+v", out.Decision)
	}
}

func TestNobodyThere(t *testing.T) {
	if out := decide(t, bash("ls")); !reflect.DeepEqual(out, Outcome{}) {
		t.Errorf(`decide(t, bash("ls")) = %+v, want Outcome{}`, out)
	}
}

func TestDisabledAndOthersAreSkipped(t *testing.T) {
	off := false
	deny := says(event.Decision{Verdict: event.Deny})
	out := decide(t, bash("ls"),
		entry(t, Registration{ID: "off", Enabled: &off}, deny),
		entry(t, Registration{ID: "codex", Agent: "codex"}, deny),
		entry(t, Registration{ID: "end", HookType: "turn.end"}, deny),
		entry(t, Registration{ID: "match", Match: &Match{Command: "rm"}}, deny),
		entry(t, Registration{ID: "here", HookType: "PreToolUse"}, says(event.Decision{Verdict: event.Allow})))
	if ran(out.Steps) != "here" || out.Decision.Verdict != event.Allow || out.Decision.By != "here" {
		t.Errorf(`out = %+v, want ran(out.Steps) = "here", out.Decision.Verdict = event.Allow and out.Decision.By = `+
			`"here"`, out)
	}
}

// agent-mux gave the first hook's words as the reason of the second's deny.
func TestDenyIsFinalAndGivesItsOwnReason(t *testing.T) {
	out := decide(t, bash("ls"),
		entry(t, at(1, Registration{ID: "first"}),
			says(event.Decision{Verdict: event.Allow, Reason: "fine by me", Context: "hint"})),
		entry(t, at(2, Registration{ID: "second"}), says(event.Decision{Verdict: event.Deny, Reason: "no"})),
		entry(t, at(3, Registration{ID: "third"}), says(event.Decision{Verdict: event.Allow})))
	d := out.Decision
	if ran(out.Steps) != "first second" || d.Verdict != event.Deny || d.Reason != "no" || d.By != "second" ||
		d.Context != "hint" {
		t.Errorf(`out = %+v, want ran(out.Steps) = "first second", d.Verdict = event.Deny, d.Reason = "no", d.By = `+
			`"second" and d.Context = "hint"`, out)
	}
	if out.Steps[0].Verdict != event.Allow || out.Steps[1].Verdict != event.Deny || out.Steps[1].Role != Guard {
		t.Errorf("out.Steps = %+v, want out.Steps[0].Verdict = event.Allow, out.Steps[1].Verdict = event.Deny and "+
			"out.Steps[1].Mode = Guard", out.Steps)
	}
}

// agent-mux could not reach modify from a command at all.
func TestLaterHooksSeeTheChangedInput(t *testing.T) {
	ev := bash("ls")
	var seen []string
	look := func(id string, d event.Decision) *Entry {
		return entry(t, Registration{ID: id}, HandlerFunc(func(_ context.Context, call *Call) (event.Decision, error) {
			tool := call.Event.Tool
			seen = append(seen, fmt.Sprintf("%s %s of %s %v", id, tool.CurrentInput(), tool.Input, tool.Commands))
			return d, nil
		}))
	}
	out := decide(t, ev,
		look("a", event.Decision{Verdict: event.Modify, Input: json.RawMessage(`{"command":"ls -l"}`)}),
		look("b", event.Decision{Input: json.RawMessage(`{"timeout":5}`)}),
		look("c", event.Decision{Verdict: event.Allow, Input: json.RawMessage("null")}))
	want := []string{
		`a {"command":"ls"} of {"command":"ls"} [ls]`,
		`b {"command":"ls -l"} of {"command":"ls"} [ls -l]`,
		`c {"command":"ls -l","timeout":5} of {"command":"ls"} [ls -l]`,
	}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("seen = %q, want %q", seen, want)
	}
	d := out.Decision
	if d.Verdict != event.Modify || !d.Allowed || string(d.Input) != `{"command":"ls -l","timeout":5}` {
		t.Errorf(`d = %+v, want d.Verdict = event.Modify, d.Allowed and string(d.Input) = {"command":"ls `+
			`-l","timeout":5}`, d)
	}
	if ev.Tool.Changed != nil || ev.Tool.Commands[0] != "ls" {
		t.Error("the event itself was changed")
	}
}

// A result that a hook cleaned must not come back by the next one's change.
func TestLaterHooksSeeTheChangedOutput(t *testing.T) {
	adds := func(text string) Handler {
		return HandlerFunc(func(_ context.Context, call *Call) (event.Decision, error) {
			var before string
			_ = json.Unmarshal(call.Event.Tool.Output, &before)
			after, err := json.Marshal(strings.ReplaceAll(before, "secret", "***") + text)
			return event.Decision{Output: after}, err
		})
	}
	ev := bash("x")
	ev.Native, ev.Kind = "PostToolUse", event.ToolAfter
	ev.Tool.Output = json.RawMessage(`"a secret"`)
	r := Registration{Agent: Any, HookType: "tool.after", Handler: "builtin", Role: Advise}
	first, second := r, r
	first.ID, first.Target, second.ID, second.Target = "first", "first", "second", "second"
	silent := r
	silent.ID, silent.Target = "silent", "silent"
	out := decide(t, ev, entry(t, at(1, first), adds("")), entry(t, at(2, silent), says(event.Decision{})),
		entry(t, at(3, second), adds("!")))
	if string(out.Decision.Output) != `"a ***!"` || string(ev.Tool.Output) != `"a secret"` {
		t.Errorf("got %s, and the event has %s; want \"a ***!\", and the event as it came", out.Decision.Output,
			ev.Tool.Output)
	}
}

func TestAMatchIsHeldAgainstTheChangedInput(t *testing.T) {
	out := decide(t, bash("deploy prod"),
		entry(t, at(1, Registration{ID: "rewrite"}),
			says(event.Decision{Verdict: event.Modify, Input: commandInput("deploy test")})),
		entry(t, at(2, Registration{ID: "prod", Match: &Match{Command: "prod"}}),
			says(event.Decision{Verdict: event.Deny})),
		entry(t, at(3, Registration{ID: "test", Match: &Match{Command: "test"}}),
			says(event.Decision{Context: "tested"})))
	if ran(out.Steps) != "rewrite test" || out.Decision.Verdict != event.Modify {
		t.Errorf(`out = %+v, want ran(out.Steps) = "rewrite test" and out.Decision.Verdict = event.Modify`, out)
	}
}

func builtinGuard(t testing.TB, id, word string, looks *int) *Entry {
	e := entry(t, at(-1000, Registration{ID: id, Handler: "builtin", Role: Guard, Locked: true}),
		HandlerFunc(func(_ context.Context, call *Call) (event.Decision, error) {
			*looks++
			if strings.Contains(call.Event.Tool.Commands[0], word) {
				return event.Decision{Verdict: event.Deny, Reason: word}, nil
			}
			return event.Decision{Context: "looked", Input: nil}, nil
		}))
	e.BuiltinGuard = true
	return e
}

func TestBuiltinGuardsLookAgain(t *testing.T) {
	looks := 0
	guard := builtinGuard(t, "guard.x", "evil", &looks)
	change := entry(t, Registration{ID: "change"},
		says(event.Decision{Verdict: event.Modify, Allowed: true, Input: commandInput("evil")}))
	user := entry(t, at(1, Registration{ID: "user"}), says(event.Decision{}))
	out := decide(t, bash("ls"), guard, user, change)
	if got := ran(out.Steps); got != "guard.x user change guard.x+" || out.Decision.Verdict != event.Deny ||
		out.Decision.Reason != "evil" || looks != 2 {
		t.Errorf(`ran(out.Steps) = %s, out.Decision = %+v; want "guard.x user change guard.x+", `+
			`out.Decision.Verdict = event.Deny, out.Decision.Reason = "evil" and looks = 2`, got, out.Decision)
	}
	// Several changes, one second look, at the last.
	looks = 0
	harmless := entry(t, at(200, Registration{ID: "harmless"}),
		says(event.Decision{Verdict: event.Modify, Input: commandInput("ls")}))
	out = decide(t, bash("ls"), guard, change, harmless)
	if got := ran(out.Steps); got != "guard.x change harmless guard.x+" || out.Decision.Verdict != event.Modify ||
		looks != 2 || out.Decision.Context != "looked" {
		t.Errorf(`ran(out.Steps) = %s, out.Decision = %+v; want "guard.x change harmless guard.x+", `+
			`out.Decision.Verdict = event.Modify, looks = 2 and out.Decision.Context = "looked"`, got, out.Decision)
	}
	// Nothing changed, or changed before the guard looked: one look.
	looks = 0
	if got := ran(decide(t, bash("ls"), guard, user).Steps); got != "guard.x user" || looks != 1 {
		t.Errorf(`ran(decide(t, bash("ls"), guard, user).Steps) = %q, looks = %v; want "guard.x user" and looks = 1`,
			got, looks)
	}
	early := entry(t, at(-2000, Registration{ID: "early"}),
		says(event.Decision{Verdict: event.Modify, Input: commandInput("pwd")}))
	looks = 0
	if got := ran(decide(t, bash("ls"), guard, early).Steps); got != "early guard.x" || looks != 1 {
		t.Errorf(`ran(decide(t, bash("ls"), guard, early).Steps) = %q, looks = %v; want "early guard.x" and looks = 1`,
			got, looks)
	}
	// Every guard before the change looks again, also behind one that has no objection.
	looks = 0
	first, second := builtinGuard(t, "guard.a", "worse", &looks), builtinGuard(t, "guard.b", "evil", &looks)
	out = decide(t, bash("ls"), first, second, change)
	if got := ran(out.Steps); got != "guard.a guard.b change guard.a+ guard.b+" || out.Decision.Verdict != event.Deny ||
		out.Decision.Reason != "evil" {
		t.Errorf("two guards before a change: ran %q, decision %+v; want both again, and evil denied", got, out.Decision)
	}
	// The guard that made the last change does not look at it again.
	itself := entry(t, at(-1000, Registration{ID: "itself", Role: Guard}),
		says(event.Decision{Verdict: event.Modify, Input: commandInput("pwd")}))
	itself.BuiltinGuard = true
	if got := ran(decide(t, bash("ls"), itself, user).Steps); got != "itself user" {
		t.Errorf("a guard that changes the input itself: ran %q, want it once", got)
	}
	// A second look neither changes nor takes an approval back.
	moody := entry(t, at(-1000, Registration{ID: "moody", Role: Guard}),
		says(event.Decision{Verdict: event.Modify, Input: commandInput("other")}))
	moody.BuiltinGuard = true
	out = decide(t, bash("ls"), moody, entry(t, Registration{ID: "yes"},
		says(event.Decision{Verdict: event.Modify, Allowed: true, Input: commandInput("pwd")})))
	if d := out.Decision; d.Verdict != event.Modify || !d.Allowed || string(d.Input) != `{"command":"pwd"}` {
		t.Errorf(`d = %+v, want d.Verdict = event.Modify, d.Allowed and string(d.Input) = {"command":"pwd"}`, d)
	}
}

func TestAGuardThatMatchesOnlyTheChangedInputIsAsked(t *testing.T) {
	guard := entry(t, at(-1000, Registration{ID: "g", Role: Guard, Match: &Match{Command: "evil"}}),
		says(event.Decision{Verdict: event.Deny}))
	guard.BuiltinGuard = true
	out := decide(t, bash("ls"), guard, entry(t, Registration{ID: "change"},
		says(event.Decision{Verdict: event.Modify, Input: commandInput("evil")})))
	if ran(out.Steps) != "change g+" || out.Decision.Verdict != event.Deny {
		t.Errorf(`out = %+v, want ran(out.Steps) = "change g+" and out.Decision.Verdict = event.Deny`, out)
	}
}

func TestAdvisersAdvise(t *testing.T) {
	r := Registration{Handler: "command", HookType: "turn.end"}
	ev := event.Event{Agent: "claude", Native: "Stop", Kind: event.TurnEnd}
	out := decide(t, ev, entry(t, r, says(event.Decision{KeepGoing: true, Reason: "tests are red", Context: "c",
		Notice: "n", Output: json.RawMessage("1")})))
	d := out.Decision
	if !d.KeepGoing || d.Reason != "tests are red" || d.Context != "c" || d.Notice != "n" || d.Output == nil ||
		out.Steps[0].Role != Advise || out.Steps[0].Err != nil {
		t.Errorf(`out = %+v, want d.KeepGoing, d.Reason = "tests are red", d.Context = "c", d.Notice = "n", `+
			`d.Output other than nil, out.Steps[0].Mode = Advise and no error`, out)
	}
	for _, verdict := range []event.Decision{
		{Verdict: event.Deny, Reason: "no", Context: "c", ExitCode: 2},
		{Verdict: event.Allow, Context: "c"},
		{Verdict: event.Ask, Context: "c"},
		{Input: json.RawMessage(`{"a":1}`), Context: "c"},
	} {
		out := decide(t, ev, entry(t, r, says(verdict)))
		d := out.Decision
		if d.Verdict != event.None || d.Input != nil || d.ExitCode != 0 || d.Context != "c" ||
			!errors.Is(out.Steps[0].Err, ErrMayNotDecide) || out.Steps[0].Verdict != event.None {
			t.Errorf(`%+v: out = %+v, want d.Verdict = event.None, d.Input = nil, d.ExitCode = 0, d.Context = "c", `+
				`error ErrMayNotDecide and out.Steps[0].Verdict = event.None`, verdict, out)
		}
	}
	out = decide(t, ev, entry(t, r, fails("broken")))
	if !out.Decision.Empty() || out.Steps[0].Err == nil {
		t.Errorf("half an advice counts: %+v", out)
	}
}

func TestWhoIsWaitedFor(t *testing.T) {
	guard := entry(t, Registration{ID: "guard", Role: Guard}, says(event.Decision{}))
	advise := entry(t, Registration{ID: "advise", Role: Advise}, says(event.Decision{Context: "c"}))
	observe := entry(t, Registration{ID: "observe", Role: Observe}, says(event.Decision{Verdict: event.Deny}))
	picky := entry(t, Registration{ID: "picky", Role: Observe, Match: &Match{Tool: "fetch"}}, says(event.Decision{}))
	context1 := event.Carries{Context: true}
	for _, c := range []struct {
		entries []*Entry
		carries event.Carries
		waits   bool
		watched bool
	}{
		{nil, everything, false, false},
		{[]*Entry{guard}, event.Carries{}, true, false},
		{[]*Entry{advise}, context1, true, false},
		{[]*Entry{advise}, event.Carries{Keep: true}, true, false},
		{[]*Entry{advise}, event.Carries{Output: true}, true, false},
		{[]*Entry{advise}, event.Carries{Notice: true}, true, false},
		{[]*Entry{advise}, event.Carries{Deny: true, Allow: true}, false, true},
		{[]*Entry{observe}, everything, false, true},
		{[]*Entry{picky}, everything, false, false},
		{[]*Entry{observe, guard}, everything, true, true},
	} {
		ev := bash("ls")
		if got := AnyDecides(c.entries, ev.Kind, c.carries); got != c.waits {
			t.Errorf("%+v: waits %v, want %v", c, got, c.waits)
		}
		if got := HasObservers(c.entries, &ev, c.carries); got != c.watched {
			t.Errorf("%+v: watched %v, want %v", c, got, c.watched)
		}
	}
	// Each is run by exactly one of the two.
	ev := bash("ls")
	d := Dispatcher{}
	all := []*Entry{observe, guard, advise, picky}
	out := d.Decide(context.Background(), Call{Event: &ev, Carries: context1}, all)
	steps := d.RunObservers(context.Background(), Call{Event: &ev, Carries: context1}, all)
	if ran(out.Steps) != "guard advise" || ran(steps) != "observe" || out.Decision.Context != "c" ||
		out.Decision.Verdict != event.None {
		t.Errorf(`ran(out.Steps) = %s, ran(steps) = %s; want ran(out.Steps) = "guard advise", ran(steps) = `+
			`"observe", out.Decision.Context = "c" and out.Decision.Verdict = event.None`, ran(out.Steps), ran(steps))
	}
	if !errors.Is(steps[0].Err, ErrMayNotDecide) || steps[0].Role != Observe {
		t.Errorf("an observer decided: %+v", steps[0])
	}
	out = d.Decide(context.Background(), Call{Event: &ev}, all)
	steps = d.RunObservers(context.Background(), Call{Event: &ev}, all)
	if ran(out.Steps) != "guard" || ran(steps) != "observe advise" || steps[1].Role != Advise || steps[1].Err != nil {
		t.Errorf(`ran(out.Steps) = %s, ran(steps) = %s; want ran(out.Steps) = "guard", ran(steps) = "observe `+
			`advise", steps[1].Mode = Advise and no error`, ran(out.Steps), ran(steps))
	}
}

// agent-mux ran a registration that called itself again and again.
func TestNestedEvents(t *testing.T) {
	nothing := says(event.Decision{})
	locked := entry(t, Registration{ID: "locked", Handler: "command", Locked: true}, nothing)
	lockedLog := entry(t, Registration{ID: "locked-log", Handler: "builtin", Locked: true}, nothing)
	plain := entry(t, Registration{ID: "plain", Handler: "command"}, nothing)
	own := entry(t, Registration{ID: "guard.x", Handler: "builtin", Role: Guard}, nothing)
	own.BuiltinGuard = true
	all := []*Entry{own, locked, lockedLog, plain}
	names := func(entries []*Entry) string {
		var ids []string
		for _, e := range entries {
			ids = append(ids, e.ID)
		}
		return strings.Join(ids, " ")
	}
	ev := bash("ls")
	if got := names(Select(all, &ev, func(string) bool { return true })); got != "guard.x locked locked-log plain" {
		t.Errorf(`not nested:: %v, want "guard.x locked locked-log plain"`, got)
	}
	ev.Nested = true
	if got := names(Select(all, &ev, nil)); got != "guard.x locked" {
		t.Errorf(`names(Select(all, &ev, nil)) = %q, want "guard.x locked"`, got)
	}
	if got := names(Select(all, &ev, func(id string) bool { return id == "locked" })); got != "guard.x" {
		t.Error("the running hook gets its own event:", got)
	}
	ev.Kind, ev.Native = event.TurnEnd, "Stop"
	if got := names(Select(all, &ev, nil)); got != "guard.x" {
		t.Error("an adviser answers a nested event:", got)
	}
}

func TestHandlersGetTheirCall(t *testing.T) {
	ev := bash("ls")
	var got Call
	e := entry(t, Registration{ID: "x", Target: "t"},
		HandlerFunc(func(_ context.Context, call *Call) (event.Decision, error) {
			got = *call
			return event.Decision{By: "somebody else"}, nil
		}))
	d := Dispatcher{}
	d.Decide(context.Background(), Call{Event: &ev, Env: []string{"A=1"}, Project: "/w", Carries: everything},
		[]*Entry{e})
	if got.Hook == nil || got.Hook.Target != "t" || got.Env[0] != "A=1" || got.Project != "/w" ||
		got.Carries != everything || got.Event.Tool.Name != "Bash" {
		t.Errorf(`got %+v, want got.Hook other than nil, got.Hook.Target = "t", got.Env[0] = "A=1", got.Project = `+
			`"/w", got.Carries = %+v and got.Event.Tool.Name = "Bash"`, got, everything)
	}
}

func TestAChangeWithoutATool(t *testing.T) {
	ev := event.Event{Agent: "claude", Native: "UserPromptSubmit", Kind: event.TurnStart}
	out := decide(t, ev, entry(t, Registration{Role: Guard}, says(event.Decision{Input: json.RawMessage(`{"a":1}`)})))
	if out.Decision.Verdict != event.Modify || string(out.Decision.Input) != `{"a":1}` {
		t.Errorf(`out.Decision = %+v, want out.Decision.Verdict = event.Modify and string(out.Decision.Input) = `+
			`{"a":1}`, out.Decision)
	}
}

// Whatever the hooks say: a deny anywhere among the guards denies, nothing
// runs after it, and nothing is approved that no guard approved.
func TestDecideProperties(t *testing.T) {
	verdicts := []event.Verdict{event.None, event.Allow, event.Modify, event.Ask, event.Deny}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "n")
		var entries []*Entry
		firstDeny, approved := -1, false
		for i := range n {
			v := rapid.SampledFrom(verdicts).Draw(t, "verdict")
			d := event.Decision{Verdict: v}
			if v == event.Modify {
				d.Input, d.Allowed = commandInput(fmt.Sprint(i)), rapid.Bool().Draw(t, "allowed")
			}
			mode := rapid.SampledFrom([]Role{Guard, Guard, Advise}).Draw(t, "mode")
			broken := rapid.IntRange(0, 5).Draw(t, "broken") == 0
			run := says(d)
			if broken {
				run = fails("x")
			}
			e := &Entry{Registration: Registration{ID: fmt.Sprint(i), Agent: Any, HookType: Any, Role: mode}, Run: run}
			entries = append(entries, e)
			if mode == Guard && firstDeny < 0 && (broken || v == event.Deny) {
				firstDeny = i
			}
			approved = approved || mode == Guard && !broken && (v == event.Allow || d.Allowed)
		}
		d, ev := Dispatcher{Change: readCommands}, bash("ls")
		out := d.Decide(context.Background(), Call{Event: &ev, Carries: everything}, entries)
		if (out.Decision.Verdict == event.Deny) != (firstDeny >= 0) {
			t.Fatalf("out = %+v, want (out.Decision.Verdict == event.Deny) = (firstDeny >= 0)", out)
		}
		if firstDeny >= 0 && (out.Decision.By != fmt.Sprint(firstDeny) || len(out.Steps) != firstDeny+1) {
			t.Fatalf("first deny is %d: %+v", firstDeny, out)
		}
		if (out.Decision.Verdict == event.Allow || out.Decision.Allowed) && !approved {
			t.Fatalf("an approval from nowhere: %+v", out)
		}
	})
}

// waiter is a handler that waits until its time is over, or fails at once.
type waiter struct{ panics bool }

func (waiter) Prompt() {}

func (w waiter) Handle(ctx context.Context, _ *Call) (event.Decision, error) {
	if w.panics {
		panic("oh")
	}
	<-ctx.Done()
	return event.Decision{Verdict: event.Allow}, nil
}

// A handler that is called without a goroutine has the same limits.
func TestPrompt(t *testing.T) {
	for _, w := range []waiter{{false}, {true}} {
		e, err := NewEntry(Registration{ID: "w", Agent: Any, HookType: "tool.before", Handler: "builtin", Target: "w",
			Role: Guard, Timeout: Duration(20 * time.Millisecond)}, w, "test")
		if err != nil {
			t.Fatal(err)
		}
		var d Dispatcher
		out := d.Decide(t.Context(), Call{Event: &event.Event{Agent: "claude", Kind: event.ToolBefore,
			Tool: &event.Tool{}}}, []*Entry{e})
		want := "no answer within"
		if w.panics {
			want = "panicked"
		}
		if out.Decision.Verdict != event.Deny || !strings.Contains(out.Decision.Reason, want) {
			t.Errorf("%+v: out.Decision = %+v, want out.Decision.Verdict = event.Deny and %q in out.Decision.Reason",
				w, out.Decision, want)
		}
	}
}
