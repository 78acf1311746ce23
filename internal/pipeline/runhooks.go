package pipeline

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/environ"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tshook/host"
)

// maxNested bounds the events from below handlers that are being decided at
// once. A locked hook that calls hooks, and hides that from us, would
// otherwise recurse until its time is over.
const maxNested = 16

// runHooks runs the hooks that are meant for the event.
func (p *Pipeline) runHooks(ctx context.Context, call *HookCall, s *pipelineState) {
	if p.Off.IsOff() {
		s.skipped = services.SwitchedOff
		return
	}
	p.selectHooks(call, s)
	if call.dryRun.supposeDecision(s) || len(s.entries) == 0 {
		return
	}
	hookCall := hook.Call{Event: &s.ev, Project: s.project, Carries: s.carries}
	if !onlyGuards(s.entries) {
		hookCall.Env = environ.Split(call.Env) // hookmux's own guards don't look at it
	}
	if hook.AnyDecides(s.entries, s.ev.Kind, s.carries) {
		if s.ev.Nested {
			defer p.nesting.Add(-1)
			if p.nesting.Add(1) > maxNested {
				s.outcome.Decision = event.Decision{
					Verdict: event.Deny, By: event.ByHookmux,
					Reason: "hooks call hooks without end; look at what locked hooks run",
				}
				return
			}
		}
		s.outcome = p.runDeciding(ctx, call, s, hookCall)
		p.runLogOnly(ctx, call, s, hookCall)
	}
	if call.dryRun == nil && hook.Watched(s.entries, &s.ev, s.carries) {
		call.addAfter(func() { p.later.tellObservers(hookCall, s.entries) })
	}
}

// selectHooks finds the hooks that are meant for the event.
func (p *Pipeline) selectHooks(call *HookCall, s *pipelineState) {
	s.entries, s.project, s.ev.Projects = p.Selection.ForEvent(&s.ev, s.busy)
	s.entries = p.Modules.WithLaunches(host.Call{
		Event: &s.ev, Carries: s.carries, PeerPID: call.Peer.PID,
		Agent: host.Process{PID: s.caller.PID, Start: s.caller.Start},
	}, s.entries)
}

// runDeciding runs the hooks that may have a say. Pure built-in guards answer
// on the spot; everything else may take long, so the caller's hanging up and
// the deadline end it.
func (p *Pipeline) runDeciding(ctx context.Context, call *HookCall, s *pipelineState, hookCall hook.Call) hook.Outcome {
	if call.dryRun != nil {
		entries := builtinGuards(s.entries)
		if call.dryRun.runHooks {
			entries = withCommands(s.entries)
		}
		return p.dispatch.Decide(services.WithDryRun(ctx), hookCall, entries)
	}
	if onlyBuiltin(s.entries, s.ev.Kind) {
		return p.dispatch.Decide(ctx, hookCall, s.entries)
	}
	p.Recorder.Wake() // this may take long, and who watches wants to see what is being decided
	ctx, cancel := context.WithDeadline(ctx, s.deadline)
	defer cancel()
	if call.OnGone == nil {
		return p.dispatch.Decide(ctx, hookCall, s.entries)
	}
	var left atomic.Bool
	stop := call.OnGone(func() { left.Store(true); cancel() })
	outcome := p.dispatch.Decide(ctx, hookCall, s.entries)
	stop()
	if left.Load() {
		// Hooks that were cut off did not fail, and nothing was decided.
		s.skipped = services.CallerLeft
		return hook.Outcome{}
	}
	return outcome
}

// runLogOnly runs the hooks that only logs. hookmux's own guards run
// at once; the others, which may take long, once the agent has its answer.
func (p *Pipeline) runLogOnly(ctx context.Context, call *HookCall, s *pipelineState, hookCall hook.Call) {
	var own, others []hook.LogOnly
	for _, m := range s.outcome.LogOnly {
		if m.Entry.BuiltinGuard {
			own = append(own, m)
		} else {
			others = append(others, m)
		}
	}
	if call.dryRun != nil {
		if !call.dryRun.runHooks {
			others = nil
		}
		dry := services.WithDryRun(ctx)
		s.outcome.Steps = append(s.outcome.Steps, p.dispatch.LogOnly(dry, hookCall, append(own, others...))...)
		return
	}
	s.outcome.Steps = append(s.outcome.Steps, p.dispatch.LogOnly(services.WithDryRun(ctx), hookCall, own)...)
	// A nested event comes from below a hook: one that only logs must not
	// call itself without end.
	if len(others) > 0 && !s.ev.Nested {
		call.addAfter(func() {
			if s.skipped != services.CallerLeft {
				p.later.runLogOnly(hookCall, s.recorded, others)
			}
		})
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

// withCommands are hookmux's own guards and the hooks that are programs or backends.
func withCommands(entries []*hook.Entry) []*hook.Entry {
	var list []*hook.Entry
	for _, e := range entries {
		if e.BuiltinGuard || e.RunsProgram() || e.IsAddress() {
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
func (p *Pipeline) capKeepGoing(s *pipelineState) {
	d := &s.outcome.Decision
	goesOn := d.KeepGoing || d.Verdict == event.Deny && s.ev.Kind.TakesKeepGoing()
	if goesOn && !p.keepGoing.mayGoOn(&s.ev) {
		d.KeepGoing = false
		if s.ev.Kind.TakesKeepGoing() {
			d.Verdict = event.None
		}
		d.NoteDegraded(event.Degradation{
			What: event.PartKeepGoing, Why: event.TooManyRounds, Detail: strconv.Itoa(maxRounds),
		})
	}
}

// supposeDecision puts the decision in that is to be supposed, if one is.
func (r *dryRun) supposeDecision(s *pipelineState) bool {
	if r == nil || r.suppose == nil {
		return false
	}
	s.outcome.Decision = *r.suppose
	return true
}
