package pipeline

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tshook/host"
)

// maxNested bounds the events from below handlers that are being decided at
// once. A locked hook that calls hooks, and hides that from us, would
// otherwise recurse until its time is over.
const maxNested = 16

// runHooks runs the hooks that are meant for the event.
func (p *Pipeline) runHooks(ctx context.Context, c *call) {
	if p.Off.IsOff() {
		c.Skipped = services.SwitchedOff
		return
	}
	p.selectHooks(c)
	if c.supposeDecision() || len(c.entries) == 0 {
		return
	}
	hookCall := hook.Call{Event: &c.Event, Project: c.Project, Carries: c.Carries, DryRun: c.DryRun != nil}
	if !onlyGuards(c.entries) {
		hookCall.Env = proc.SplitEnv(c.Frame.Env) // hookmux's own guards don't look at it
	}
	if hook.AnyDecides(c.entries, c.Event.Kind, c.Carries) {
		if c.Event.Nested {
			defer p.nesting.Add(-1)
			if p.nesting.Add(1) > maxNested {
				c.Outcome.Decision = event.Decision{
					Verdict: event.Deny, By: event.ByHookmux,
					Reason: "hooks call hooks without end; look at what locked hooks run",
				}
				return
			}
		}
		c.Outcome = p.runDeciding(ctx, c, hookCall)
		p.runLogOnly(ctx, c, hookCall)
	}
	if c.DryRun == nil && c.Container == "" {
		p.Selection.NoteContact(&c.Event)
	}
	c.hookCall = hookCall
	c.observed = c.DryRun == nil && hook.HasObservers(c.entries, &c.Event, c.Carries)
}

// selectHooks finds the hooks that are meant for the event.
func (p *Pipeline) selectHooks(c *call) {
	c.entries, c.Project, c.Event.Projects = p.Selection.ForEvent(&c.Event, c.busy)
	if c.Container != "" { // what your hooks run, they run on this machine
		c.entries = builtinGuards(c.entries)
		return
	}
	c.entries = p.TSHooks.WithLaunches(hook.Call{Event: &c.Event, Carries: c.Carries},
		host.Process{PID: c.caller.PID, Start: c.caller.Start}, c.Peer.PID, c.entries)
}

// runDeciding runs the hooks that may decide. Pure built-in guards answer
// on the spot; everything else may take long, so the caller's hanging up and
// the deadline end it.
func (p *Pipeline) runDeciding(ctx context.Context, c *call, hookCall hook.Call) hook.Outcome {
	if c.DryRun != nil {
		entries := builtinGuards(c.entries)
		if c.DryRun.RunHooks {
			entries = withCommands(c.entries)
		}
		return p.dispatch.Decide(ctx, hookCall, entries)
	}
	if onlyBuiltin(c.entries, c.Event.Kind) {
		return p.dispatch.Decide(ctx, hookCall, c.entries)
	}
	p.Recorder.Wake() // this may take long, and who watches wants to see what is being decided
	ctx, cancel := context.WithDeadline(ctx, c.Deadline)
	defer cancel()
	if c.OnGone == nil {
		return p.dispatch.Decide(ctx, hookCall, c.entries)
	}
	var left atomic.Bool
	stop := c.OnGone(func() { left.Store(true); cancel() })
	outcome := p.dispatch.Decide(ctx, hookCall, c.entries)
	stop()
	if left.Load() {
		// Hooks that were cut off did not fail, and nothing was decided.
		c.Skipped = services.CallerLeft
		return hook.Outcome{}
	}
	return outcome
}

// runLogOnly runs the hooks that only logs. hookmux's own guards run
// at once; the others, which may take long, once the agent has its answer.
func (p *Pipeline) runLogOnly(ctx context.Context, c *call, hookCall hook.Call) {
	var own, others []hook.LogOnly
	for _, m := range c.Outcome.LogOnly {
		if m.Entry.BuiltinGuard {
			own = append(own, m)
		} else {
			others = append(others, m)
		}
	}
	if c.DryRun != nil {
		if !c.DryRun.RunHooks {
			others = nil
		}
		c.Outcome.Steps = append(c.Outcome.Steps, p.dispatch.LogOnly(ctx, hookCall, append(own, others...))...)
		return
	}
	dry := hookCall
	dry.DryRun = true // what only logs uses nothing up
	c.Outcome.Steps = append(c.Outcome.Steps, p.dispatch.LogOnly(ctx, dry, own)...)
	// A nested event comes from below a hook: one that only logs must not
	// call itself without end.
	if !c.Event.Nested {
		c.logOnly = others
	}
}

// builtinGuards are hookmux's own among the entries: pure, so that asking them
// leaves no trace.
func builtinGuards(entries []*hook.Entry) []*hook.Entry {
	var own []*hook.Entry
	for _, e := range entries {
		if e.BuiltinGuard {
			own = append(own, e)
		}
	}
	return own
}

// withCommands returns hookmux's own guards and the hooks that run programs.
func withCommands(entries []*hook.Entry) []*hook.Entry {
	var list []*hook.Entry
	for _, e := range entries {
		if e.BuiltinGuard || e.RunsProgram() {
			list = append(list, e)
		}
	}
	return list
}

// onlyGuards reports whether all entries are hookmux's own guards.
func onlyGuards(entries []*hook.Entry) bool {
	return !slices.ContainsFunc(entries, func(e *hook.Entry) bool { return !e.BuiltinGuard })
}

func onlyBuiltin(entries []*hook.Entry, kind event.Kind) bool {
	for _, e := range entries {
		if !e.BuiltinGuard && !e.LogOnly && e.RoleFor(kind) != hook.Observe {
			return false
		}
	}
	return true
}

// capKeepGoing stops an agent that hooks have kept going maxRounds times. At a
// turn's end a deny means keep going.
func (p *Pipeline) capKeepGoing(c *call) {
	d := &c.Outcome.Decision
	goesOn := d.KeepGoing || d.Verdict == event.Deny && c.Event.Kind.TakesKeepGoing()
	if goesOn && !p.keepGoing.mayGoOn(&c.Event) {
		d.KeepGoing = false
		if c.Event.Kind.TakesKeepGoing() {
			d.Verdict = event.None
		}
		d.NoteDegraded(event.Degradation{
			What: event.PartKeepGoing, Why: event.TooManyRounds, Detail: strconv.Itoa(maxRounds),
		})
	}
}

// supposeDecision takes the decision that a dry run supposes, if it supposes one.
func (c *call) supposeDecision() bool {
	if c.DryRun == nil || c.DryRun.Suppose == nil {
		return false
	}
	c.Outcome.Decision = *c.DryRun.Suppose
	return true
}
