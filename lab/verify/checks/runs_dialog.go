package checks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

func noDialog(a *agent.Agent, d drivers.Driver) string {
	if d.TUI == nil {
		return "no interactive start that works offline is known" + reasonSuffix(d.NoTUI)
	}
	if !ClaimOf(a, event.ToolBefore).Ask && d.Compact == "" && !d.KeepAtTerminal {
		return "nothing that only shows interactively"
	}
	return ""
}

// runDialog has a hook ask the user, who says yes, has the conversation compacted, which a hook denies,
// and leaves.
func runDialog(ctx context.Context, st *testbed.TestBed) error {
	asks := ClaimFor(st, event.ToolBefore).Ask
	var calls []model.ToolCall
	if asks {
		calls = append(calls, st.TaggedCall("ask"))
	}
	calls = append(calls, st.TaggedCall("shown"))
	st.SetScript(append(testbed.CallSteps(calls...), model.Step{Say: testbed.LastWords}, model.Step{Say: "Went on."}))
	err := st.StartDaemonWithHooks(func(ev *event.Event, n int) event.Decision {
		switch {
		case ev.Kind == event.ToolBefore && testbed.TagOf(ev) == "ask":
			return event.Decision{Verdict: event.Ask, Reason: testbed.WordFor(testbed.WordReason, "ask")}
		case ev.Kind == event.CompactBefore && ClaimFor(st, event.CompactBefore).Context:
			return event.Decision{Context: testbed.WordFor(testbed.WordContext, ev.Native)}
		case ev.Kind == event.CompactBefore && n == 0:
			return event.Decision{Verdict: event.Deny, Reason: testbed.WordFor(testbed.WordReason, "compact")}
		case ev.Kind == event.TurnEnd && st.Driver.KeepAtTerminal && n == 0:
			return event.Decision{KeepGoing: true, Reason: testbed.GoOn(ev.Native, 1)}
		case ev.Kind == event.ToolBefore, ev.Kind == event.ToolAfter, ev.Kind == event.TurnStart,
			ev.Kind == event.TurnEnd, ev.Kind == event.SessionStart:
			return event.Decision{Notice: testbed.WordFor(testbed.WordNotice, ev.Native)}
		}
		return event.Decision{}
	})
	if err != nil {
		return err
	}
	return st.AtTerminal(ctx, st.Driver.TUI(testbed.MarkedPrompt("Run it"), false),
		func(ctx context.Context, t *testbed.Terminal) error {
			return runPerson(ctx, st, t, asks)
		})
}

func runPerson(ctx context.Context, st *testbed.TestBed, t *testbed.Terminal, asks bool) error {
	within := func(d time.Duration) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
	if asks {
		c, cancel := within(st.Patience / 3)
		// A turn that ends all the same was not asked about: no need to wait.
		over := func() bool {
			return st.Watcher.HasPassed(func(ev *event.Event) bool {
				return ev.Kind == event.TurnEnd &&
					ev.Subagent == nil
			})
		}
		shown := t.AwaitUnless(c, testbed.WordFor(testbed.WordReason, "ask"), over)
		cancel()
		switch {
		case !shown && !over():
			return nil // the check says what is missing
		case !shown:
			asks = false
		}
	}
	if asks {
		if _, err := os.Stat(filepath.Join(st.Project, "ran-ask")); err == nil {
			_ = os.WriteFile(filepath.Join(st.Project, "asked"), []byte("too early"), 0o600)
		}
		// Some agents notify a while after the question came up.
		if hasEvent(st, event.UserAttention) {
			c, cancel := within(12 * time.Second)
			st.Watcher.WaitForOne(c, func(ev *event.Event) bool { return ev.Kind == event.UserAttention })
			cancel()
		}
		if err := t.PressKeys(ctx, st.Driver.Accept); err != nil {
			return err
		}
	}
	c, cancel := within(st.Patience * 2 / 3)
	ends := 1
	if st.Driver.KeepAtTerminal {
		ends = 2
	}
	ended := st.Watcher.WaitFor(c, ends, func(ev *event.Event) bool {
		return ev.Kind == event.TurnEnd &&
			ev.Subagent == nil
	})
	cancel()
	t.AwaitStillness(ctx)
	if !ended && !st.Watcher.HasPassed(func(ev *event.Event) bool { return ev.Kind == event.TurnEnd }) {
		return errors.New("the turn did not end at the terminal")
	}
	if st.Driver.Compact != "" {
		if err := compactTwice(ctx, st, t); err != nil {
			return err
		}
	}
	if st.Driver.Quit != "" {
		if err := t.TypeLine(ctx, st.Driver.Quit); err != nil {
			return err
		}
		c, cancel := within(10 * time.Second)
		defer cancel()
		testbed.WaitUntil(c, 100*time.Millisecond, func() bool { return t.HasEnded(c) })
	}
	return nil
}

// compactTwice compacts twice; if the agent accepts a denial, the first is denied.
func compactTwice(ctx context.Context, st *testbed.TestBed, t *testbed.Terminal) error {
	times := 1
	if ClaimFor(st, event.CompactBefore).Deny {
		times = 2
	}
	for i := range times {
		if err := t.TypeLine(ctx, st.Driver.Compact); err != nil {
			return err
		}
		kind := event.CompactBefore
		if i == times-1 && awaitsCompaction(st) {
			kind = event.CompactAfter
		}
		c, cancel := context.WithTimeout(ctx, 15*time.Second)
		st.Watcher.WaitForOne(c, func(ev *event.Event) bool { return ev.Kind == kind })
		cancel()
		t.AwaitStillness(ctx)
	}
	return nil
}

// awaitsCompaction reports whether the agent reports a compaction that was made.
func awaitsCompaction(st *testbed.TestBed) bool {
	for _, e := range st.Agent.Events {
		if e.Kind == event.CompactAfter {
			return st.Driver.Unseen[e.Name] == ""
		}
	}
	return false
}

func hasEvent(st *testbed.TestBed, kind event.Kind) bool {
	for _, e := range st.Agent.Events {
		if e.Kind == kind {
			return true
		}
	}
	return false
}
