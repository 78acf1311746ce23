package hook

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

func fails(text string) Handler {
	return HandlerFunc(func(context.Context, *Call) (event.Decision, error) {
		return event.Decision{Verdict: event.Allow, Context: "half"}, errors.New(text)
	})
}

// agent-mux: a hook killed by a signal or too slow was an approval.
func TestFailuresMeanWhatTheRegistrationSays(t *testing.T) {
	for _, c := range []struct {
		r       Registration
		verdict event.Verdict
	}{
		{Registration{}, event.Deny},
		{Registration{OnFailure: FailDeny, Format: Claude}, event.Deny},
		{Registration{OnFailure: FailAsk}, event.Ask},
		{Registration{OnFailure: FailIgnore}, event.None},
		{Registration{Format: Claude}, event.None},
	} {
		out := decide(t, bash("ls"), entry(t, c.r, fails("killed by SIGKILL")),
			entry(t, Registration{ID: "next"}, says(event.Decision{})))
		d := out.Decision
		if d.Verdict != c.verdict || d.Context != "" {
			t.Errorf(`%+v: d = %+v, want d.Verdict = %q and d.Context = ""`, c.r, d, c.verdict)
		}
		if c.verdict != event.None && (d.Reason != "hook h failed: killed by SIGKILL" || d.By != "h") {
			t.Errorf(`%+v: %q by %q; want c.verdict == event.None or (d.Reason == "hook h failed: killed by `+
				`SIGKILL" and d.By == "h")`, c.r, d.Reason, d.By)
		}
		if out.Steps[0].Err == nil || len(out.Steps) == 1 != (c.verdict == event.Deny) {
			t.Errorf("%+v: out.Steps = %+v, want an error and len(out.Steps) == 1 = (c.verdict == event.Deny)",
				c.r, out.Steps)
		}
	}
	// A word nobody knows fails closed.
	e := entry(t, Registration{}, fails("x"))
	e.OnFailure = "allow"
	if out := decide(t, bash("ls"), e); out.Decision.Verdict != event.Deny {
		t.Errorf("out.Decision = %+v, want out.Decision.Verdict = event.Deny", out.Decision)
	}
}

// agent-mux let a panicking built-in end the program.
func TestPanics(t *testing.T) {
	boom := HandlerFunc(func(context.Context, *Call) (event.Decision, error) { panic("boom") })
	guard := entry(t, Registration{ID: "b"}, boom)
	guard.BuiltinGuard = true
	for _, e := range []*Entry{entry(t, Registration{}, boom), guard, entry(t, Registration{}, HandlerFunc(nil))} {
		out := decide(t, bash("ls"), e)
		var panicked *PanicError
		if out.Decision.Verdict != event.Deny || !errors.As(out.Steps[0].Err, &panicked) || len(panicked.Stack) == 0 {
			t.Errorf("out = %+v, want out.Decision.Verdict = event.Deny, errors.As(out.Steps[0].Err, &panicked) and "+
				"len(panicked.Stack) other than 0", out)
		}
		if strings.Contains(out.Decision.Reason, "goroutine") || strings.Contains(out.Decision.Reason, ".go:") {
			t.Errorf("the agent gets a stack to read: %q", out.Decision.Reason)
		}
	}
	d := Dispatcher{}
	ev := bash("ls")
	steps := d.RunObservers(context.Background(), Call{Event: &ev},
		[]*Entry{entry(t, Registration{Role: Observe}, boom),
			entry(t, Registration{ID: "next", Role: Observe}, says(event.Decision{}))})
	if ran(steps) != "h next" || steps[0].Err == nil || steps[1].Err != nil {
		t.Errorf(`steps = %+v, want ran(steps) = "h next", an error and no error`, steps)
	}
}

func shortGrace(t *testing.T) {
	g, l := grace, lastGrace
	grace, lastGrace = 30*time.Millisecond, 10*time.Millisecond
	t.Cleanup(func() { grace, lastGrace = g, l })
}

// stubborn never looks at its context. It is let go when the test ends.
func stubborn(t *testing.T, called *atomic.Int32) Handler {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	return HandlerFunc(func(_ context.Context, call *Call) (event.Decision, error) {
		if called != nil {
			called.Add(1)
		}
		<-release
		_ = call.Event.Tool.Commands // still looking at what it was given
		return event.Decision{Verdict: event.Allow}, nil
	})
}

func TestTimeouts(t *testing.T) {
	shortGrace(t)
	limit := Duration(5 * time.Millisecond)
	gives := func(d event.Decision, err error) Handler {
		return HandlerFunc(func(ctx context.Context, _ *Call) (event.Decision, error) {
			<-ctx.Done()
			return d, err
		})
	}
	for _, c := range []struct {
		name    string
		run     Handler
		verdict event.Verdict
		reason  string
	}{
		{"ignores its context", stubborn(t, nil), event.Deny, "hook h failed: no answer within 5ms"},
		{"gives up without a word", gives(event.Decision{}, nil), event.Deny, "hook h failed: no answer within 5ms"},
		{"gives up with a yes", gives(event.Decision{Verdict: event.Allow}, nil), event.Deny, "hook h failed: no answer within 5ms"},
		{"gives up with an error", gives(event.Decision{}, errors.New("ended after 5 ms")), event.Deny, "hook h failed: ended after 5 ms"},
		{"says no at the last moment", gives(event.Decision{Verdict: event.Deny, Reason: "no"}, nil), event.Deny, "no"},
	} {
		out := decide(t, bash("ls"), entry(t, Registration{Timeout: limit}, c.run))
		if out.Decision.Verdict != c.verdict || out.Decision.Reason != c.reason {
			t.Errorf("%s: out.Decision = %+v, want out.Decision.Verdict = %q and out.Decision.Reason = %q",
				c.name, out.Decision, c.verdict, c.reason)
		}
	}
	// The dispatcher's own limit holds for a hook that names none.
	d, ev := Dispatcher{Timeout: 5 * time.Millisecond}, bash("ls")
	out := d.Decide(context.Background(), Call{Event: &ev}, []*Entry{entry(t, Registration{}, stubborn(t, nil))})
	if out.Decision.Verdict != event.Deny {
		t.Errorf("out = %+v, want out.Decision.Verdict = event.Deny", out)
	}
	// One that was left behind is not in the way of those that follow.
	out = decide(t, bash("ls"),
		entry(t, at(1, Registration{ID: "slow", Timeout: limit, OnFailure: FailIgnore}), stubborn(t, nil)),
		entry(t, at(2, Registration{ID: "change"}),
			says(event.Decision{Verdict: event.Modify, Input: commandInput("pwd")})))
	if ran(out.Steps) != "slow change" || out.Decision.Verdict != event.Modify {
		t.Errorf(`out = %+v, want ran(out.Steps) = "slow change" and out.Decision.Verdict = event.Modify`, out)
	}
}

// The agent's time is over: every guard that was not heard has failed, at
// once, so that the agent still hears about it.
func TestTheEventsOwnDeadline(t *testing.T) {
	shortGrace(t)
	grace = time.Hour // would be the hook's own; the event's end counts
	ev := bash("ls")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	var called atomic.Int32
	looks := 0
	entries := []*Entry{
		entry(t, Registration{ID: "slow", OnFailure: FailIgnore}, stubborn(t, &called)),
		entry(t, Registration{ID: "next", OnFailure: FailAsk}, stubborn(t, &called)),
		builtinGuard(t, "guard.x", "ls", &looks),
	}
	d := Dispatcher{}
	out := d.Decide(ctx, Call{Event: &ev, Carries: everything}, entries)
	if ran(out.Steps) != "slow next guard.x" || called.Load() != 1 || looks != 1 || out.Decision.Verdict != event.Deny {
		t.Errorf(`%s: out.Decision = %+v, want ran(out.Steps) = "slow next guard.x", called.Load() = 1, looks = 1 `+
			`and out.Decision.Verdict = event.Deny`, ran(out.Steps), out.Decision)
	}
	for _, s := range out.Steps[:2] {
		if s.Err == nil || !strings.Contains(s.Err.Error(), "the agent's time") {
			t.Errorf(`s = %+v, want an error and "the agent's time" in s.Err.Error()`, s)
		}
	}
	cancelled, stop := context.WithCancel(context.Background())
	stop()
	out = d.Decide(cancelled, Call{Event: &ev, Carries: everything}, entries[1:2])
	if out.Decision.Verdict != event.Ask || called.Load() != 1 {
		t.Errorf("out = %+v, want out.Decision.Verdict = event.Ask and called.Load() = 1", out)
	}
}
