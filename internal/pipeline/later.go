package pipeline

import (
	"context"
	"errors"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tshook/host"
	"github.com/hookmux/hookmux/internal/wire"
)

// maxObservers bounds observers under way, so that a slow one cannot pile up
// processes without end; what comes on top is reported, not run.
const maxObservers = 64

// laterHooks runs hooks that don't hold up an answer, after it, and measures what every
// hook cost.
type laterHooks struct {
	ctx       context.Context // ends when the daemon does
	dispatch  *hook.Dispatcher
	deps      services.Deps
	recorder  Recorder
	hookStats HookStats
	slots     chan struct{} // bounds those under way
}

// runObservers runs the hooks that only observe a call.
func (p *Pipeline) runObservers(c *call) {
	if c.observed {
		p.later.runObservers(c.hookCall, c.entries)
	}
}

// runLogOnlyLater runs the hooks in log mode that the agent didn't wait for.
func (p *Pipeline) runLogOnlyLater(c *call) {
	if len(c.logOnly) > 0 && c.Skipped != services.CallerLeft {
		p.later.runLogOnly(c.hookCall, c.recorded, c.logOnly)
	}
}

// runLogOnly runs hooks in log mode in the background and adds what they said to the
// outcome that was recorded.
func (l *laterHooks) runLogOnly(call hook.Call, outcome *wire.Outcome, list []hook.LogOnly) {
	if !l.reserveSlot() {
		return
	}
	ev := *call.Event // the pipeline goes on with its own copy
	call.Event = &ev
	l.deps.Background.Go(func() {
		defer func() { <-l.slots }()
		steps := l.dispatch.LogOnly(l.ctx, call, list)
		l.countSteps(&ev, steps)
		if l.ctx.Err() != nil || outcome == nil {
			return // what was cut off said nothing
		}
		more := *outcome
		more.Amends = true
		more.Steps = append(append([]wire.Step{}, outcome.Steps...), wireSteps(steps)...)
		l.recorder.RecordOutcome(&more)
		l.recorder.Wake()
	})
}

// runObservers runs observers, once the agent has its answer.
func (l *laterHooks) runObservers(call hook.Call, entries []*hook.Entry) {
	var quick, slow []*hook.Entry
	for _, e := range entries {
		if e.Inline || e.BuiltinGuard {
			quick = append(quick, e)
		} else {
			slow = append(slow, e)
		}
	}
	// What cannot hang neither waits for a slot nor for the slow ones.
	l.countSteps(call.Event, l.dispatch.RunObservers(l.ctx, call, quick))
	if !hook.HasObservers(slow, call.Event, call.Carries) {
		return
	}
	if !l.reserveSlot() {
		return
	}
	ev := *call.Event // the pipeline goes on with its own copy
	call.Event = &ev
	l.deps.Background.Go(func() {
		defer func() { <-l.slots }()
		l.countSteps(&ev, l.dispatch.RunObservers(l.ctx, call, slow))
	})
}

// reserveSlot reserves a slot for hooks that run after the answer. It returns false if
// too many run, and reports that as a problem.
func (l *laterHooks) reserveSlot() bool {
	select {
	case l.slots <- struct{}{}:
		return true
	default:
		l.deps.Problems.Raise("observers",
			"hooks that observe or log are slower than events come in; some calls were left out",
			"`hookmux status --hooks` shows the slow ones")
		return false
	}
}

// countSteps counts what hooks cost and shows what failed.
func (l *laterHooks) countSteps(ev *event.Event, steps []hook.Step) {
	for i := range steps {
		step := &steps[i]
		l.hookStats.Add(step)
		if step.Err == nil {
			if l.deps.Problems.Any() {
				l.deps.Problems.Clear("hook:" + step.Hook) // it works again
			}
			continue
		}
		text := termsafe.FirstLine(step.Err.Error())
		warn := func(text string) {
			l.deps.Log.Warn("hook failed", "hook", step.Hook, "agent", ev.Agent, "event", ev.Native,
				"error", redact.Text(text))
		}
		if own := (*host.FileError)(nil); errors.As(step.Err, &own) {
			warn(text)
			continue // the file's own report names the line, once
		}
		l.deps.Problems.Raise("hook:"+step.Hook,
			"hook "+step.Hook+" failed on "+ev.Agent+" "+ev.Native+": "+text,
			"`hookmux hooks list` shows it; `hookmux log --json` has every call")
		warn(step.Err.Error())
	}
}

// wireSteps are steps as they are stored and streamed.
func wireSteps(steps []hook.Step) []wire.Step {
	var list []wire.Step
	for _, one := range steps {
		step := wire.Step{
			Hook: one.Hook, Role: string(one.Role), TookUS: one.Took.Microseconds(), Verdict: string(one.Verdict),
			Again: one.Again, Would: wire.WouldOf(one.Would),
		}
		if one.Err != nil {
			step.Error = termsafe.FirstLine(one.Err.Error())
		}
		list = append(list, step)
	}
	return list
}
