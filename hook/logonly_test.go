package hook

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/event"
)

// drawOpinion is anything a hook may say.
func drawOpinion(t *rapid.T, label string) event.Decision {
	d := event.Decision{
		Verdict: rapid.SampledFrom([]event.Verdict{event.None, event.Allow, event.Deny, event.Ask, event.Modify}).
			Draw(t, label),
		Reason:  rapid.SampledFrom([]string{"", "because"}).Draw(t, label+" reason"),
		Context: rapid.SampledFrom([]string{"", "hint"}).Draw(t, label+" context"),
		Notice:  rapid.SampledFrom([]string{"", "look"}).Draw(t, label+" notice"),
	}
	if rapid.Bool().Draw(t, label+" changes") {
		d.Input = commandInput(rapid.SampledFrom([]string{"ls", "make"}).Draw(t, label+" input"))
	}
	if rapid.Bool().Draw(t, label+" result") {
		d.Output = json.RawMessage(`"other"`)
	}
	d.KeepGoing = rapid.Bool().Draw(t, label+" goes on")
	return d
}

// A only logged hook changes nothing: whatever it says or fails with, and wherever
// it stands, the decision and what the other hooks did are the same without it.
func TestLogOnlyHooksChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ev := bash("true")
		ev.Kind = rapid.SampledFrom([]event.Kind{event.ToolBefore, event.PermissionRequest, event.ToolAfter,
			event.TurnEnd, event.TurnStart}).
			Draw(t, "kind")
		var with, without []*Entry
		for i := range rapid.IntRange(0, 6).Draw(t, "hooks") {
			id := string(rune('a' + i))
			run := says(drawOpinion(t, id))
			if rapid.IntRange(0, 4).Draw(t, id+" fails") == 0 {
				run = HandlerFunc(
					func(context.Context, *Call) (event.Decision, error) {
						return event.Decision{},
							errors.New("broken")
					},
				)
			}
			reg := Registration{
				ID: id, Agent: Any, HookType: Any, Handler: "command", Target: "x",
				Role:    rapid.SampledFrom([]Role{"", Guard, Advise, Observe}).Draw(t, id+" mode"),
				LogOnly: rapid.Bool().Draw(t, id+" log"),
			}
			e, err := NewEntry(reg, run, "global")
			if err != nil {
				t.Fatal(err)
			}
			e.BuiltinGuard = rapid.Bool().Draw(t, id+" built in")
			with = append(with, e)
			if !reg.LogOnly {
				without = append(without, e)
			}
		}
		d := Dispatcher{Change: readCommands}
		call := Call{Event: &ev, Carries: everything}
		all, rest := d.Decide(t.Context(), call, with), d.Decide(t.Context(), call, without)
		if !reflect.DeepEqual(all.Decision, rest.Decision) {
			t.Fatalf("decided %+v with logOnly hooks and %+v without", all.Decision, rest.Decision)
		}
		if ran(all.Steps) != ran(rest.Steps) {
			t.Fatalf("%q ran with logOnly hooks and %q without", ran(all.Steps), ran(rest.Steps))
		}
		for _, step := range d.LogOnly(t.Context(), call, all.LogOnly) {
			if step.Verdict != event.None {
				t.Fatalf("%s has the verdict %s, and only logs", step.Hook, step.Verdict)
			}
		}
	})
}

func TestLogOnlyHooksAreHeard(t *testing.T) {
	guard := Registration{ID: "m", Role: Guard, LogOnly: true}
	failing := HandlerFunc(func(context.Context, *Call) (event.Decision, error) {
		return event.Decision{},
			errors.New("broken")
	})
	for _, c := range []struct {
		name  string
		reg   Registration
		run   Handler
		would event.Verdict
		none  bool
	}{
		{"a refusal", guard, says(event.Decision{Verdict: event.Deny, Reason: "no"}), event.Deny, false},
		{"a question", guard, says(event.Decision{Verdict: event.Ask}), event.Ask, false},
		{"a change", guard, says(event.Decision{Input: commandInput("ls")}), event.Modify, false},
		{"a failure", guard, failing, event.Deny, false},
		{"nothing to say", guard, says(event.Decision{}), event.None, true},
		{"advice", Registration{ID: "m", Role: Advise, LogOnly: true}, says(event.Decision{Context: "hint"}), event.None, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := bash("make")
			out := decide(t, ev, entry(t, c.reg, c.run))
			if !out.Decision.Empty() || len(out.Steps) != 0 {
				t.Fatalf("it counted: %+v; want out.Decision.Empty() and len(out.Steps) == 0", out)
			}
			d := Dispatcher{Change: readCommands}
			steps := d.LogOnly(t.Context(), Call{Event: &ev, Carries: everything}, out.LogOnly)
			if len(steps) != 1 {
				t.Fatalf("%d steps, want 1", len(steps))
			}
			switch would := steps[0].Would; {
			case c.none != (would == nil):
				t.Errorf("would have said %+v", would)
			case would != nil && would.Verdict != c.would:
				t.Errorf("would have said %s, want %s", would.Verdict, c.would)
			}
		})
	}
}

// A only logged hook sees a call as the hooks before it left it, and a built-in
// guard that only logs looks again at what hooks behind it changed.
func TestLogOnlyHooksSeeTheChangedCall(t *testing.T) {
	var seen []string
	look := HandlerFunc(func(_ context.Context, call *Call) (event.Decision, error) {
		seen = append(seen, call.Event.Tool.Commands[0])
		return event.Decision{}, nil
	})
	first := entry(t, at(1, Registration{ID: "first", Role: Guard, LogOnly: true}), look)
	first.BuiltinGuard = true
	ev := bash("make")
	out := decide(t, ev, first,
		entry(t, at(2, Registration{ID: "changes", Role: Guard}), says(event.Decision{Input: commandInput("ls")})),
		entry(t, at(3, Registration{ID: "last", Role: Guard, LogOnly: true}), look))
	(&Dispatcher{}).LogOnly(t.Context(), Call{Event: &ev, Carries: everything}, out.LogOnly)
	if want := []string{"make", "ls", "ls"}; !reflect.DeepEqual(seen, want) {
		t.Errorf("saw %q, want %q", seen, want)
	}
}
