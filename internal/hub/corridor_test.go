package hub

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func TestEveryAgentIsAnsweredInItsOwnWords(t *testing.T) {
	w := open(t, noDeploys(t))
	for agent, words := range map[string]string{
		"claude": `"permissionDecision":"deny"`,
		"codex":  `"permissionDecision":"deny"`,
		"grok":   `{"decision":"deny","reason":"no deploys today"`,
	} {
		ask := before(agent, "s-"+agent, w.base, "make deploy")
		ask.ID = "deny-" + agent
		reply := w.ask(ask)
		if !strings.Contains(string(reply.Stdout), words) || !strings.Contains(string(reply.Stdout), "no deploys today") {
			t.Errorf("%s: %q", agent, reply.Stdout)
		}
		pass := before(agent, "s-"+agent, w.base, "make test")
		pass.ID = "pass-" + agent
		w.mustPass(pass)
		row := w.row("deny-"+agent, true)
		if row.Agent != agent || row.Kind != "tool.before" || row.Session != "s-"+agent || row.verdict() != "deny" {
			t.Errorf("%s is stored as %+v, %q", agent, row, row.verdict())
		}
	}
}

func TestWhatIsNotKnownPassesAndIsKept(t *testing.T) {
	w := open(t, noDeploys(t))
	for name, r := range map[string]frame.Request{
		"unknown agent":   {Agent: "nobody-knows", Event: "PreToolUse", Payload: []byte(`{"a":1}`)},
		"unknown event":   {Agent: "claude", Event: "SomethingNew", Payload: []byte(`{"session_id":"x","new":true}`)},
		"no payload":      {Agent: "claude", Event: "PreToolUse"},
		"no JSON":         {Agent: "codex", Event: "PreToolUse", Payload: []byte("\xff\xfe not json")},
		"half an object":  {Agent: "grok", Event: "PreToolUse", Payload: []byte(`{"session_id":"x","tool_name":"run_ter`)},
		"JSON, no event":  {Agent: "claude", Event: "PreToolUse", Payload: []byte(`[1,2,3]`)},
		"no event at all": {Agent: "claude", Payload: []byte(`{}`)},
	} {
		r.ID = frame.NewID()
		r.Deadline = patience
		if got := w.ask(r); len(got.Stdout) > 0 || got.Exit != 0 {
			t.Errorf("%s: answered %q, exit %d", name, got.Stdout, got.Exit)
		}
		w.row(r.ID, false)
	}
}

func TestATruncatedCallIsNotWavedThrough(t *testing.T) {
	w := open(t)
	r := frame.Request{ID: "cut", Agent: "claude", Event: "PreToolUse", Truncated: true, Deadline: patience,
		Payload: []byte(`{"session_id":"s","tool_name":"Write","tool_input":{"file_path":"/x","content":"aaaa`)}
	w.mustDeny(r, "cannot see what this call does")
	if row := w.row("cut", true); !row.Truncated {
		t.Errorf("stored as %+v", row)
	}
	// Whoever only reports is taken as it is.
	w.mustPass(frame.Request{Agent: "claude", Event: "Notification", Truncated: true, Payload: []byte(`{"message":"aaa`)})
}

func TestNestedCallsMeetOnlyLockedGuards(t *testing.T) {
	var told atomic.Int32
	locked := entry(t, "locked", hook.Guard, event.ToolBefore, func(_ context.Context, c *hook.Call) (event.Decision, error) {
		if strings.Contains(c.Event.Tool.Commands[0], "locked-away") {
			return event.Decision{Verdict: event.Deny, Reason: "locked away"}, nil
		}
		return event.Decision{}, nil
	})
	locked.Locked = true
	observer := entry(t, "observer", hook.Observe, event.ToolBefore, func(context.Context, *hook.Call) (event.Decision, error) {
		told.Add(1)
		return event.Decision{}, nil
	})
	w := open(t, noDeploys(t), locked, observer)
	w.stand(belowHub())
	r := before("claude", "s", w.base, "make deploy")
	r.ID = "nested"
	w.mustPass(r)
	if !w.row("nested", false).Nested {
		t.Error("not stored as nested")
	}
	w.mustDeny(before("claude", "s", w.base, "locked-away"), "locked away")
	// The variable keeps a locked hook from meeting itself, never a guard of
	// hookmux's own.
	r = before("claude", "s", w.base, "locked-away")
	r.Env = []byte("HOOKMUX_HANDLER=first locked\x00")
	w.mustPass(r)
	r = before("claude", "s", w.base, "echo > "+w.dirs.Config+"/hooks.json")
	r.Env = []byte("HOOKMUX_HANDLER=guard.own-files\x00")
	w.mustDeny(r, "own-files")
	if told.Load() != 0 {
		t.Error("an observer heard of a nested event")
	}
	// Outside, the variable alone keeps no guard away.
	w.stand(belowAgent("claude"))
	r = before("claude", "s", w.base, "make deploy")
	r.Env = []byte("HOOKMUX_HANDLER=no-deploys\x00")
	w.mustDeny(r, "no deploys today")
}

func TestTheRealCallerIsAnswered(t *testing.T) {
	w := open(t, noDeploys(t))
	// Grok reads Claude's settings and so calls under Claude's name.
	w.stand(belowAgent("grok"))
	r := before("grok", "s", w.base, "make deploy")
	r.Agent, r.ID = "claude", "in-disguise"
	if got := string(w.ask(r).Stdout); !strings.HasPrefix(got, `{"decision":"deny"`) {
		t.Errorf("answered %q, want Grok's words", got)
	}
	if row := w.row("in-disguise", true); row.Agent != "grok" {
		t.Errorf("stored as %s", row.Agent)
	}
	// A payload that Grok would not send is not Grok's.
	r = frame.Request{ID: "other-words", Agent: "claude", Event: "ConfigChange", Payload: []byte(`{"hook_event_name":"ConfigChange"}`)}
	w.mustPass(r)
	if row := w.row("other-words", false); row.Agent != "claude" {
		t.Errorf("stored as %s", row.Agent)
	}
}

func TestOffMakesEverythingNeutralAndStillRecords(t *testing.T) {
	w := open(t, noDeploys(t))
	r := before("claude", "s", w.base, "make deploy")
	w.mustDeny(r, "no deploys")
	var off wire.Off
	w.mustCall(wire.MethodOff, wire.OffParams{Seconds: 3600}, &off)
	if off.Until == nil {
		t.Error("off without an end")
	}
	r.ID = "while-off"
	w.mustPass(r)
	if row := w.row("while-off", true); row.outcome.Neutral != "off" {
		t.Errorf("recorded as %+v", row.outcome)
	}
	// It outlives the hub, and ends by itself.
	w.down()
	w.up(noDeploys(t))
	r.ID = ""
	w.mustPass(r)
	w.mustCall(wire.MethodOff, wire.OffParams{Seconds: 0.001}, nil)
	w.eventually("it is on again", func() bool { return denies(w.ask(r)) })
	w.mustCall(wire.MethodOff, wire.OffParams{}, nil)
	w.mustPass(r)
	w.mustCall(wire.MethodOn, nil, nil)
	w.mustDeny(r, "no deploys")
	if err := w.call(wire.MethodOff, wire.OffParams{Seconds: -1}, nil); err == nil {
		t.Error("a negative time was taken")
	}
}

func TestATurnIsKeptGoingThreeTimes(t *testing.T) {
	more := entry(t, "more", hook.Guard, event.TurnEnd, func(context.Context, *hook.Call) (event.Decision, error) {
		return event.Decision{KeepGoing: true, Reason: "the tests fail"}, nil
	})
	w := open(t, more)
	for _, agent := range []string{"claude", "codex", "grok"} {
		for turn := range 2 {
			w.ask(said(agent, "UserPromptSubmit", map[string]any{"prompt": "go"}))
			for round := range 5 {
				r := said(agent, "Stop", map[string]any{"stop_hook_active": round > 0})
				r.ID = fmt.Sprintf("%s-%d-%d", agent, turn, round)
				if got := denies(w.ask(r)); got != (round < 3) {
					t.Errorf("%s, turn %d, round %d: kept going is %v", agent, turn, round, got)
				}
			}
		}
		if row := w.row(agent+"-1-3", true); len(row.outcome.Decision) == 0 || !strings.Contains(string(row.outcome.Decision), "3 times already") {
			t.Errorf("the dropped round is recorded as %s", row.outcome.Decision)
		}
	}
	// Another session has its own count.
	r := said("codex", "Stop", map[string]any{"session_id": "another"})
	if !denies(w.ask(r)) {
		t.Error("another session's turn was ended")
	}
}

func TestTheSameIDIsOneQuestion(t *testing.T) {
	var calls atomic.Int32
	release := make(chan struct{})
	slow := entry(t, "slow", hook.Guard, event.ToolBefore, func(context.Context, *hook.Call) (event.Decision, error) {
		n := calls.Add(1)
		<-release
		return event.Decision{Verdict: event.Deny, Reason: fmt.Sprintf("answer %d", n)}, nil
	})
	w := open(t, slow)
	r := before("claude", "s", w.base, "x")
	r.ID = "asked-often"
	var wg sync.WaitGroup
	replies := make([]frame.Reply, 4)
	for i := range replies {
		wg.Add(1)
		go func() {
			defer wg.Done()
			replies[i], _ = w.try(r)
		}()
	}
	w.eventually("somebody asks", func() bool { return calls.Load() > 0 })
	close(release)
	wg.Wait()
	again := w.ask(r)
	var pushed wire.PushResult
	w.mustCall(wire.MethodPush, wire.PushParams{ID: r.ID, Agent: "claude", Event: "PreToolUse", Payload: r.Payload}, &pushed)
	for _, got := range append(replies, again) {
		if !strings.Contains(string(got.Stdout), "answer 1") {
			t.Errorf("answered %q", got.Stdout)
		}
	}
	if !strings.Contains(pushed.Stdout, "answer 1") || !strings.Contains(string(pushed.Decision), "answer 1") || calls.Load() != 1 {
		t.Errorf("%d calls, pushed: %+v", calls.Load(), pushed)
	}
	w.row(r.ID, true)
}

func TestAStoppingHubHangsUp(t *testing.T) {
	for name, decision := range map[string]event.Decision{
		"allow": {Verdict: event.Allow, Reason: "fine"}, "none": {}, "deny": {Verdict: event.Deny, Reason: "no"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{})
			slow := entry(t, "slow", hook.Guard, event.ToolBefore, func(ctx context.Context, _ *hook.Call) (event.Decision, error) {
				close(asked)
				<-ctx.Done()
				return decision, nil
			})
			w := open(t, slow)
			got := make(chan error, 1)
			go func() {
				reply, err := w.try(before("claude", "s", w.base, "x"))
				if err == nil {
					err = fmt.Errorf("answered %q", reply.Stdout)
				} else {
					err = nil
				}
				got <- err
			}()
			<-asked
			w.mustCall(wire.MethodStop, nil, nil)
			w.gone()
			if err := <-got; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestObserversAreNotWaitedFor(t *testing.T) {
	release, heard := make(chan struct{}), make(chan string, 1)
	observer := entry(t, "slow-observer", hook.Observe, event.ToolBefore, func(ctx context.Context, c *hook.Call) (event.Decision, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		heard <- c.Event.ID
		return event.Decision{}, errors.New("the observer fell over")
	})
	w := open(t, observer)
	r := before("claude", "s", w.base, "x")
	r.ID = "observed"
	w.mustPass(r) // while the observer still waits
	close(release)
	if id := <-heard; id != r.ID {
		t.Errorf("heard of %s", id)
	}
	w.eventually("its failure is shown", func() bool {
		_, shown := w.problem("hook:slow-observer")
		return shown
	})
}

func TestHandlersEndWhenTheCallerLeaves(t *testing.T) {
	asked, ended := make(chan struct{}, 8), make(chan struct{}, 8)
	slow := entry(t, "slow", hook.Guard, event.ToolBefore, func(ctx context.Context, _ *hook.Call) (event.Decision, error) {
		asked <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return event.Decision{}, ctx.Err()
	})
	w := open(t, slow)
	r := before("claude", "s", w.base, "x")
	r.ID = "left"
	conn := w.dial()
	if _, err := conn.Write(frame.AppendRequest(nil, &r)); err != nil {
		t.Fatal(err)
	}
	<-asked
	conn.Close()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the handler runs on")
	}
	row := w.row(r.ID, true)
	if row.verdict() != "none" || row.outcome.Neutral != callerLeft {
		t.Errorf("recorded as %s, %+v", row.verdict(), row.outcome)
	}
	if p, shown := w.problem("hook:"); shown {
		t.Errorf("a person's interrupt is shown as %q", p.What)
	}
	// Asking again is a new question, not the broken one's answer.
	again := make(chan struct{})
	go func() { defer close(again); _, _ = w.try(r) }()
	<-asked
	w.down()
	<-again
}

func TestTheDeadlineIsKept(t *testing.T) {
	stuck := entry(t, "stuck", hook.Guard, event.ToolBefore, func(ctx context.Context, c *hook.Call) (event.Decision, error) {
		<-ctx.Done()
		return event.Decision{Verdict: event.Allow}, nil // too late to count
	})
	w := open(t, stuck)
	r := before("claude", "s", w.base, "x")
	r.Deadline = 50 * time.Millisecond
	w.mustDeny(r, "stuck")
}

func TestAHandlerThatPanicsIsAGuardThatFails(t *testing.T) {
	bad := entry(t, "bad", hook.Guard, event.ToolBefore, func(context.Context, *hook.Call) (event.Decision, error) { panic("oops") })
	w := open(t, bad)
	w.mustDeny(before("codex", "s", w.base, "x"), "bad")
	if _, shown := w.problem("hook:bad"); !shown {
		t.Error("not shown")
	}
}

func TestExplainLeavesNoTrace(t *testing.T) {
	var ran atomic.Bool
	user := entry(t, "user", hook.Guard, event.ToolBefore, func(context.Context, *hook.Call) (event.Decision, error) {
		ran.Store(true)
		return event.Decision{}, nil
	})
	w := open(t, user)
	r := before("claude", "s", w.base, "x")
	var got wire.Explained
	w.mustCall(wire.MethodExplain, wire.ExplainParams{Agent: "claude", Event: "PreToolUse", Payload: r.Payload, Decision: []byte(`{"verdict":"deny","reason":"why"}`)}, &got)
	if !strings.Contains(got.Answer.Stdout, "deny") || len(got.Matched) == 0 {
		t.Errorf("explained as %+v", got)
	}
	w.mustCall(wire.MethodExplain, wire.ExplainParams{Agent: "claude", Event: "PreToolUse", Payload: r.Payload}, &got)
	if ran.Load() || len(w.rows()) != 0 {
		t.Error("explaining had effects")
	}
	if err := w.call(wire.MethodExplain, wire.ExplainParams{Agent: "nobody"}, nil); err == nil {
		t.Error("an unknown agent was explained")
	}
}

// A frame that comes in pieces is a frame.
func TestFramesMayComeSlowly(t *testing.T) {
	w := open(t, noDeploys(t))
	r := before("claude", "s", w.base, "make deploy")
	r.ID = "in-pieces"
	conn := w.dial()
	b := frame.AppendRequest(nil, &r)
	for len(b) > 0 {
		n := min(len(b), 37)
		if _, err := conn.Write(b[:n]); err != nil {
			t.Fatal(err)
		}
		b = b[n:]
	}
	reply, err := frame.ReadReply(bufio.NewReader(conn), frame.Standard)
	if err != nil || !denies(reply) {
		t.Errorf("%q %v", reply.Stdout, err)
	}
}
