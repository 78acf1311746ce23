package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/selection"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func TestEveryAgentIsAnsweredInItsOwnWords(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	for agent, words := range map[string]string{
		"claude": `"permissionDecision":"deny"`,
		"codex":  `"permissionDecision":"deny"`,
		"grok":   `{"decision":"deny","reason":"hookmux: hook no-deploys stopped this: no deploys today. `,
	} {
		ask := daemontest.ToolBefore(agent, "s-"+agent, w.Base, "make deploy")
		ask.ID = "deny-" + agent
		reply := w.Send(ask)
		if !strings.Contains(string(reply.Stdout), words) ||
			!strings.Contains(string(reply.Stdout), "no deploys today") {
			t.Errorf(`%s: reply.Stdout = %q, want %q in it and "no deploys today" in it`, agent, reply.Stdout, words)
		}
		pass := daemontest.ToolBefore(agent, "s-"+agent, w.Base, "make test")
		pass.ID = "pass-" + agent
		w.MustPass(pass)
		row := w.Row("deny-"+agent, true)
		if row.Agent != agent || row.Kind != "tool.before" || row.Session != "s-"+agent || row.Verdict() != "deny" {
			t.Errorf("%s is stored as %+v, %q", agent, row, row.Verdict())
		}
	}
}

func TestWhatIsNotKnownPassesAndIsKept(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	for name, r := range map[string]frame.Request{
		"unknown agent":   {Agent: "nobody-knows", Event: "PreToolUse", Payload: []byte(`{"a":1}`)},
		"unknown event":   {Agent: "claude", Event: "SomethingNew", Payload: []byte(`{"session_id":"x","new":true}`)},
		"after the call":  {Agent: "claude", Event: "PostToolUse", Payload: []byte(`{"session_id":"x","tool_name":"Ba`)},
		"no event at all": {Agent: "claude", Payload: []byte(`{}`)},
	} {
		r.ID = frame.NewID()
		r.Deadline = daemontest.Patience
		if got := w.Send(r); len(got.Stdout) > 0 || got.Exit != 0 {
			t.Errorf("%s: answered %q, exit %d; want len(got.Stdout) <= 0 and got.Exit == 0",
				name, got.Stdout, got.Exit)
		}
		w.Row(r.ID, false)
	}
}

// What cannot be read while guards are on is put to a person, or refused.
func TestWhatCannotBeReadIsNotWavedThrough(t *testing.T) {
	w := open(t)
	deep := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	for name, r := range map[string]frame.Request{
		"no payload":     {Agent: "claude", Event: "PreToolUse"},
		"no tool":        {Agent: "claude", Event: "PreToolUse", Payload: []byte(`{"session_id":"x"}`)},
		"no tool in pi":  {Agent: "pi", Event: "tool_call", Payload: []byte(`{"session_id":"x","call":{"bash":"rm -rf ~"}}`)},
		"no input":       {Agent: "claude", Event: "PreToolUse", Payload: []byte(`{"tool_name":"Bash"}`)},
		"input renamed":  {Agent: "claude", Event: "PreToolUse", Payload: []byte(`{"tool_name":"Bash","tool_args":{"command":"rm -rf ~/"}}`)},
		"key renamed":    {Agent: "claude", Event: "PreToolUse", Payload: []byte(`{"tool_name":"Bash","tool_input":{"line":"rm -rf ~/"}}`)},
		"no JSON":        {Agent: "codex", Event: "PreToolUse", Payload: []byte("\xff\xfe not json")},
		"half an object": {Agent: "grok", Event: "PreToolUse", Payload: []byte(`{"session_id":"x","tool_name":"run_ter`)},
		"a list":         {Agent: "claude", Event: "PreToolUse", Payload: []byte(`[1,2,3]`)},
		"leading zero":   {Agent: "claude", Event: "PreToolUse", Payload: []byte("\x00" + `{"tool_name":"Bash","tool_input":{"command":"ls"}}`)},
		"an object":      {Agent: "claude", Event: "PreToolUse", Payload: []byte(`{"tool_name":"Bash","tool_input":{"command":{"x":"ls"}}}`)},
		"nested":         {Agent: "codex", Event: "PreToolUse", Payload: []byte(`{"tool_name":"Bash","tool_input":{"command":"ls","x":` + deep + `}}`)},
	} {
		r.ID = frame.NewID()
		r.Deadline = daemontest.Patience
		if got := string(w.Send(r).Stdout); !strings.Contains(got, "cannot see what this call does") {
			t.Errorf("%s: answered %q, want it to be put to a person or refused", name, got)
		}
		w.Row(r.ID, false)
	}
}

func TestATruncatedCallIsNotWavedThrough(t *testing.T) {
	w := open(t)
	r := frame.Request{ID: "cut", Agent: "claude", Event: "PreToolUse", Truncated: true, Deadline: daemontest.Patience,
		Payload: []byte(`{"session_id":"s","tool_name":"Write","tool_input":{"file_path":"/x","content":"aaaa`)}
	w.MustDeny(r, "cannot see what this call does")
	if row := w.Row("cut", true); !row.Truncated {
		t.Errorf("stored as %+v; want row.Truncated", row)
	}
	// Whoever only reports is taken as it is.
	w.MustPass(frame.Request{Agent: "claude", Event: "Notification", Truncated: true,
		Payload: []byte(`{"message":"aaa`)})
}

func TestNestedCallsMeetOnlyLockedGuards(t *testing.T) {
	var told atomic.Int32
	locked := daemontest.Entry(t, "locked", hook.Guard, event.ToolBefore,
		func(_ context.Context, c *hook.Call) (event.Decision, error) {
			if strings.Contains(c.Event.Tool.Commands[0], "locked-away") {
				return event.Decision{Verdict: event.Deny, Reason: "locked away"}, nil
			}
			return event.Decision{}, nil
		})
	locked.Locked = true
	observer := daemontest.Entry(t, "observer", hook.Observe, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) {
			told.Add(1)
			return event.Decision{}, nil
		})
	w := open(t, daemontest.NoDeploys(t), locked, observer)
	w.SetProcesses(daemontest.BelowDaemon())
	r := daemontest.ToolBefore("claude", "s", w.Base, "make deploy")
	r.ID = "nested"
	w.MustPass(r)
	if !w.Row("nested", false).Nested {
		t.Error("not stored as nested")
	}
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "locked-away"), "locked away")
	// The variable keeps a locked hook from meeting itself, never a guard of
	// hookmux's own.
	r = daemontest.ToolBefore("claude", "s", w.Base, "locked-away")
	r.Env = []byte("HOOKMUX_HANDLER=first locked\x00")
	w.MustPass(r)
	r = daemontest.ToolBefore("claude", "s", w.Base, "echo > "+w.Dirs.Config+"/hooks.json")
	r.Env = []byte("HOOKMUX_HANDLER=guard.own-files\x00")
	w.MustDeny(r, "own-files")
	if told.Load() != 0 {
		t.Error("an observer heard of a nested event")
	}
	// Outside, the variable alone keeps no guard away.
	w.SetProcesses(daemontest.BelowAgent("claude"))
	r = daemontest.ToolBefore("claude", "s", w.Base, "make deploy")
	r.Env = []byte("HOOKMUX_HANDLER=no-deploys\x00")
	w.MustDeny(r, "no deploys today")
}

func TestTheRealCallerIsAnswered(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	// Grok reads Claude's settings and so calls under Claude's name.
	w.SetProcesses(daemontest.BelowAgent("grok"))
	r := daemontest.ToolBefore("grok", "s", w.Base, "make deploy")
	r.Agent, r.ID = "claude", "in-disguise"
	if got := string(w.Send(r).Stdout); !strings.HasPrefix(got, `{"decision":"deny"`) {
		t.Errorf("answered %q, want Grok's words", got)
	}
	if row := w.Row("in-disguise", true); row.Agent != "grok" {
		t.Errorf(`stored as %s, want "grok"`, row.Agent)
	}
	// A payload that Grok would not send is not Grok's.
	r = frame.Request{ID: "other-words", Agent: "claude", Event: "ConfigChange",
		Payload: []byte(`{"hook_event_name":"ConfigChange"}`)}
	w.MustPass(r)
	if row := w.Row("other-words", false); row.Agent != "claude" {
		t.Errorf(`stored as %s, want "claude"`, row.Agent)
	}
}

// A file that no daemon wrote switches nothing off, and is named.
func TestForgedOffCountsForNothing(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	w.Down()
	forged := []byte(`{"since":"2020-01-01T00:00:00Z"}`)
	if err := os.WriteFile(filepath.Join(w.Dirs.State, selection.OffFile), forged, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Up(daemontest.NoDeploys(t))
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "make deploy"), "no deploys")
	var info wire.Info
	w.MustCall(wire.MethodInfo, nil, &info)
	if info.Off != nil || !slices.ContainsFunc(info.Problems, func(p wire.Problem) bool { return p.Key == "off" }) {
		t.Errorf("off is %+v, problems are %+v; want a problem about the file", info.Off, info.Problems)
	}
}

func TestOffMakesEverythingNeutralAndStillRecords(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	r := daemontest.ToolBefore("claude", "s", w.Base, "make deploy")
	w.MustDeny(r, "no deploys")
	var off wire.Off
	w.MustCall(wire.MethodOff, wire.OffParams{Seconds: 3600}, &off)
	if off.Until == nil {
		t.Error("off without an end")
	}
	r.ID = "while-off"
	w.MustPass(r)
	if row := w.Row("while-off", true); row.Outcome.Neutral != "off" {
		t.Errorf(`recorded as %+v; want row.Outcome.Neutral == "off"`, row.Outcome)
	}
	// It outlives the daemon, and ends by itself.
	w.Down()
	w.Up(daemontest.NoDeploys(t))
	r.ID = ""
	w.MustPass(r)
	w.MustCall(wire.MethodOff, wire.OffParams{Seconds: 0.001}, nil)
	w.Eventually("it is on again", func() bool { return daemontest.Denies(w.Send(r)) })
	w.MustCall(wire.MethodOff, wire.OffParams{}, nil)
	w.MustPass(r)
	w.MustCall(wire.MethodOn, nil, nil)
	w.MustDeny(r, "no deploys")
	if err := w.Call(wire.MethodOff, wire.OffParams{Seconds: -1}, nil); err == nil {
		t.Error("a negative time was taken")
	}
}

func TestATurnIsKeptGoingThreeTimes(t *testing.T) {
	more := daemontest.Entry(t, "more", hook.Guard, event.TurnEnd,
		func(context.Context, *hook.Call) (event.Decision, error) {
			return event.Decision{KeepGoing: true, Reason: "the tests fail"}, nil
		})
	w := open(t, more)
	for _, agent := range []string{"claude", "codex", "grok"} {
		for turn := range 2 {
			w.Send(daemontest.SessionEvent(agent, "UserPromptSubmit", map[string]any{"prompt": "go"}))
			for round := range 5 {
				r := daemontest.SessionEvent(agent, "Stop", map[string]any{"stop_hook_active": round > 0})
				r.ID = fmt.Sprintf("%s-%d-%d", agent, turn, round)
				if got := daemontest.Denies(w.Send(r)); got != (round < 3) {
					t.Errorf("%s, turn %d, round %d: kept going is %v", agent, turn, round, got)
				}
			}
		}
		if row := w.Row(agent+"-1-3", true); len(row.Outcome.Decision) == 0 ||
			!strings.Contains(string(row.Outcome.Decision), "3 times already") {
			t.Errorf("the dropped round is recorded as %s", row.Outcome.Decision)
		}
	}
	// Another session has its own count.
	r := daemontest.SessionEvent("codex", "Stop", map[string]any{"session_id": "another"})
	if !daemontest.Denies(w.Send(r)) {
		t.Error("another session's turn was ended")
	}
}

func TestTheSameIDIsOneQuestion(t *testing.T) {
	var calls atomic.Int32
	release := make(chan struct{})
	slow := daemontest.Entry(t, "slow", hook.Guard, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) {
			n := calls.Add(1)
			<-release
			return event.Decision{Verdict: event.Deny, Reason: fmt.Sprintf("answer %d", n)}, nil
		})
	w := open(t, slow)
	r := daemontest.ToolBefore("claude", "s", w.Base, "x")
	r.ID = "asked-often"
	var wg sync.WaitGroup
	replies := make([]frame.Reply, 4)
	for i := range replies {
		wg.Add(1)
		go func() {
			defer wg.Done()
			replies[i], _ = w.TrySend(r)
		}()
	}
	w.Eventually("somebody asks", func() bool { return calls.Load() > 0 })
	close(release)
	wg.Wait()
	again := w.Send(r)
	var pushed wire.PushResult
	w.MustCall(wire.MethodPush, wire.PushParams{ID: r.ID, Agent: "claude", Event: "PreToolUse", Payload: r.Payload},
		&pushed)
	for _, got := range append(replies, again) {
		if !strings.Contains(string(got.Stdout), "answer 1") {
			t.Errorf(`answered %q; want "answer 1" in string(got.Stdout)`, got.Stdout)
		}
	}
	if !strings.Contains(pushed.Stdout, "answer 1") || !strings.Contains(string(pushed.Decision), "answer 1") ||
		calls.Load() != 1 {
		t.Errorf(`%d calls, pushed: %+v; want "answer 1" in pushed.Stdout, "answer 1" in `+
			`string(pushed.Decision) and calls.Load() == 1`, calls.Load(), pushed)
	}
	w.Row(r.ID, true)
}

func TestAStoppingDaemonHangsUp(t *testing.T) {
	for name, decision := range map[string]event.Decision{
		"allow": {Verdict: event.Allow, Reason: "fine"}, "none": {}, "deny": {Verdict: event.Deny, Reason: "no"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{})
			slow := daemontest.Entry(t, "slow", hook.Guard, event.ToolBefore,
				func(ctx context.Context, _ *hook.Call) (event.Decision, error) {
					close(asked)
					<-ctx.Done()
					return decision, nil
				})
			w := open(t, slow)
			got := make(chan error, 1)
			go func() {
				reply, err := w.TrySend(daemontest.ToolBefore("claude", "s", w.Base, "x"))
				if err == nil {
					err = fmt.Errorf("answered %q", reply.Stdout)
				} else {
					err = nil
				}
				got <- err
			}()
			<-asked
			w.MustCall(wire.MethodStop, nil, nil)
			w.WaitEnd()
			if err := <-got; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestObserversAreNotWaitedFor(t *testing.T) {
	release, heard := make(chan struct{}), make(chan string, 1)
	observer := daemontest.Entry(t, "slow-observer", hook.Observe, event.ToolBefore,
		func(ctx context.Context, c *hook.Call) (event.Decision, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			heard <- c.Event.ID
			return event.Decision{}, errors.New("the observer fell over")
		})
	w := open(t, observer)
	r := daemontest.ToolBefore("claude", "s", w.Base, "x")
	r.ID = "observed"
	w.MustPass(r) // while the observer still waits
	close(release)
	if id := <-heard; id != r.ID {
		t.Errorf("heard of %s, want %s", id, r.ID)
	}
	w.Eventually("its failure is shown", func() bool {
		_, shown := w.Problem("hook:slow-observer")
		return shown
	})
}

func TestHandlersEndWhenTheCallerLeaves(t *testing.T) {
	asked, ended := make(chan struct{}, 8), make(chan struct{}, 8)
	slow := daemontest.Entry(t, "slow", hook.Guard, event.ToolBefore,
		func(ctx context.Context, _ *hook.Call) (event.Decision, error) {
			asked <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
			return event.Decision{}, ctx.Err()
		})
	w := open(t, slow)
	r := daemontest.ToolBefore("claude", "s", w.Base, "x")
	r.ID = "left"
	conn := w.Dial()
	if _, err := conn.Write(frame.AppendRequest(nil, &r)); err != nil {
		t.Fatal(err)
	}
	<-asked
	conn.Close()
	select {
	case <-ended:
	case <-time.After(daemontest.Patience):
		t.Fatal("the handler runs on")
	}
	row := w.Row(r.ID, true)
	if row.Verdict() != "none" || row.Outcome.Neutral != services.CallerLeft.Code() {
		t.Errorf(`recorded as %s, %+v; want row.Verdict() == "none" and row.Outcome.Neutral == `+
			`services.CallerLeft.Code()`, row.Verdict(), row.Outcome)
	}
	if p, shown := w.Problem("hook:"); shown {
		t.Errorf("a person's interrupt is shown as %q", p.What)
	}
	// Asking again is a new question, not the broken one's answer.
	again := make(chan struct{})
	go func() { defer close(again); _, _ = w.TrySend(r) }()
	<-asked
	w.Down()
	<-again
}

func TestTheDeadlineIsKept(t *testing.T) {
	stuck := daemontest.Entry(t, "stuck", hook.Guard, event.ToolBefore,
		func(ctx context.Context, _ *hook.Call) (event.Decision, error) {
			<-ctx.Done()
			return event.Decision{Verdict: event.Allow}, nil // too late to count
		})
	w := open(t, stuck)
	r := daemontest.ToolBefore("claude", "s", w.Base, "x")
	r.Deadline = 50 * time.Millisecond
	w.MustDeny(r, "stuck")
}

func TestAHandlerThatPanicsIsAGuardThatFails(t *testing.T) {
	bad := daemontest.Entry(t, "bad", hook.Guard, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) { panic("oops") })
	w := open(t, bad)
	w.MustDeny(daemontest.ToolBefore("codex", "s", w.Base, "x"), "bad")
	if _, shown := w.Problem("hook:bad"); !shown {
		t.Error("not shown; want shown")
	}
}

func TestExplainLeavesNoTrace(t *testing.T) {
	var ran atomic.Bool
	user := daemontest.Entry(t, "user", hook.Guard, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) {
			ran.Store(true)
			return event.Decision{}, nil
		})
	w := open(t, user)
	r := daemontest.ToolBefore("claude", "s", w.Base, "x")
	var got wire.Explained
	w.MustCall(wire.MethodExplain, wire.ExplainParams{Agent: "claude", Event: "PreToolUse", Payload: r.Payload,
		Decision: []byte(`{"verdict":"deny","reason":"why"}`)}, &got)
	if !strings.Contains(got.Answer.Stdout, "deny") || len(got.Matched) == 0 {
		t.Errorf(`explained as %+v; want "deny" in got.Answer.Stdout and len(got.Matched) != 0`, got)
	}
	w.MustCall(wire.MethodExplain, wire.ExplainParams{Agent: "claude", Event: "PreToolUse", Payload: r.Payload}, &got)
	if ran.Load() || len(w.Rows()) != 0 {
		t.Error("explaining had effects")
	}
	if err := w.Call(wire.MethodExplain, wire.ExplainParams{Agent: "nobody"}, nil); err == nil {
		t.Error("an unknown agent was explained")
	}
}

// A frame that comes in pieces is a frame.
func TestFramesMayComeSlowly(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	r := daemontest.ToolBefore("claude", "s", w.Base, "make deploy")
	r.ID = "in-pieces"
	conn := w.Dial()
	b := frame.AppendRequest(nil, &r)
	for len(b) > 0 {
		n := min(len(b), 37)
		if _, err := conn.Write(b[:n]); err != nil {
			t.Fatal(err)
		}
		b = b[n:]
	}
	reply, err := frame.ReadReply(bufio.NewReader(conn), frame.Standard)
	if err != nil || !daemontest.Denies(reply) {
		t.Errorf("reply.Stdout = %q, error %v; want no error and daemontest.Denies(reply)", reply.Stdout, err)
	}
}
