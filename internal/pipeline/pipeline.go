// Package pipeline is the way of one hook call, front to back: decode, dedupe,
// record, track, run hooks, approve, encode. [Pipeline.process] shows it on one
// page; what a later step needs travels in one pipelineState.
//
//   - decode.go     native bytes → event
//   - state.go      the service, a call, what the steps learn about it
//   - proxied.go    what a program tells in an agent's place
//   - duplicates.go the same call told through two agents' files
//   - runhooks.go   guards and hooks in order
//   - later.go      observers and hooks that only log, behind the answer
//   - keepgoing.go  how often a turn may be kept going
//   - outcome.go    what came of it, for the journal
//   - push.go       events that programs push
//   - inner.go      events for TypeScript hooks alone
//   - explain.go    the same way without leaving a trace
package pipeline

import (
	"context"
	"errors"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/services"
)

// New makes a pipeline. ctx ends when the daemon does; an unfinished
// decision is then discarded.
func New(ctx context.Context, o Options) *Pipeline {
	dispatch := &hook.Dispatcher{Change: o.Deps.Catalogue.WithInput}
	return &Pipeline{
		Options: o, ctx: ctx, dispatch: dispatch,
		duplicates: newDuplicates(), open: newOpenCalls(), keepGoing: newKeepGoingLimiter(),
		callerVariables: callerVariablesOf(o.Deps.Catalogue),
		later: &laterHooks{
			ctx: ctx, dispatch: dispatch, deps: o.Deps, recorder: o.Recorder, hookStats: o.HookStats,
			slots: make(chan struct{}, maxObservers),
		},
	}
}

// Answer processes a call once per id, however often the id comes. It is false
// when the daemon ended on the way: an unfinished decision is discarded, and whoever
// waits is hung up on and asks the next daemon. It is also false when the caller
// left. Finish must be called once the caller has the answer.
func (p *Pipeline) Answer(ctx context.Context, call *HookCall) (neutral.Answer, event.Decision, bool) {
	if row, known := neutral.Lookup(call.Agent, call.Event); known && !row.Decides {
		return p.process(ctx, call)
	}
	one, ready, first := p.open.beginCall(call.ID)
	if !first {
		if ready != nil {
			select {
			case <-ready:
			case <-ctx.Done():
				return neutral.Answer{}, event.Decision{}, false
			}
		}
		return one.answer, one.decision, one.answered
	}
	answered := false
	defer func() {
		if !answered {
			p.open.forget(call.ID, one)
		}
	}()
	one.answer, one.decision, one.answered = p.process(ctx, call)
	if one.answered {
		answered = true
		p.open.keepAnswer(call.ID, one)
	}
	return one.answer, one.decision, one.answered
}

// ProcessUnanswered processes a call whose caller expects no answer.
func (p *Pipeline) ProcessUnanswered(ctx context.Context, call *HookCall) {
	p.process(ctx, call)
	p.Finish(call)
}

// Finish does what waits for the answer: the journal and the observers come
// behind it.
func (p *Pipeline) Finish(call *HookCall) {
	p.Recorder.Wake()
	if call.after != nil {
		call.after()
	}
}

// process takes one call through every step.
func (p *Pipeline) process(ctx context.Context, call *HookCall) (neutral.Answer, event.Decision, bool) {
	s := p.decode(call) // native bytes → event
	// a proxy tells what the agent's own hooks told
	if p.hooked.isToldByHooks(p.Callers, p.Deps.Catalogue, s, call.Peer.PID) {
		return neutral.Answer{}, event.Decision{}, true
	}
	p.findDuplicate(call, s)     // told twice, through another agent's file?
	defer s.releaseDuplicates()  // whoever waits for this one is on its own
	if !p.recordEvent(call, s) { // written down, so it may be acknowledged
		return neutral.Answer{}, event.Decision{}, false
	}
	if !s.isDuplicate() {
		if approvals.CanAsk(s.ev.Kind) {
			defer p.Sessions.Deciding(&s.ev)() // not yet in the agent's own window
		}
		p.notifyTrackers(call, s) // status, turn, title
	}
	if !p.awaitFirstDecision(ctx, call, s) { // a duplicate gets what the first got
		p.decide(ctx, call, s)
	}
	if s.isWithdrawn(ctx) {
		return neutral.Answer{}, event.Decision{}, false
	}
	s.publishDecision()             // to duplicates that wait
	answer, decision := p.encode(s) // decision → the agent's own words
	if !s.isDuplicate() {
		p.Sessions.ApplyDecision(&s.ev, decision)
		p.Selection.NoteDecision(&s.ev, decision)
	}
	p.recordOutcome(call, s, decision) // what came of it, for the journal and the streams
	p.noteTelemetry(call, s, decision) // and for a collector, behind the answer
	return answer, decision, s.skipped != services.CallerLeft
}

// decide is where it is decided. Explain comes this way as well, with a dry
// run for which nothing may be used up, run or written down.
func (p *Pipeline) decide(ctx context.Context, call *HookCall, s *pipelineState) {
	p.runHooks(ctx, call, s) // guards, rules and hooks in order, one merge
	if ctx.Err() != nil {
		return // an unfinished decision is discarded
	}
	p.capKeepGoing(s)
	s.setAsked(p.Approvals.Decide(ctx, approvalCall(call, s))) // must a person decide? then wait
}

// recordEvent writes the event down. From here on it survives the death of the
// daemon. It is false when this daemon can keep nothing any more and another one could:
// the daemon ends, and the caller asks the next.
func (p *Pipeline) recordEvent(call *HookCall, s *pipelineState) bool {
	err := p.Recorder.RecordEvent(call.ID, call.At, &s.ev, call.Payload)
	if errors.Is(err, services.ErrCrippled) {
		p.Stop(err.Error())
		return false
	}
	if err != nil {
		p.Deps.Problems.Raise("intake", "events cannot be written down before they are answered: "+err.Error(),
			"make room on the disk of "+p.Deps.Dirs.Intake()+"; decisions go on meanwhile")
	} else if p.Deps.Problems.Any() && p.Recorder.Writable() {
		p.Deps.Problems.Clear("intake")
	}
	if !s.isDuplicate() {
		p.stats.countEvent(&s.ev)
	}
	return true
}

// notifyTrackers gives the event to every service that keeps a state.
func (p *Pipeline) notifyTrackers(call *HookCall, s *pipelineState) {
	p.keepGoing.observe(&s.ev)
	p.Selection.NoteSession(&s.ev)
	p.Sessions.Apply(&s.ev, call.Seq)
	p.Approvals.Observe(&s.ev)
}

// approvalCall is what approvals must know of a call.
func approvalCall(call *HookCall, s *pipelineState) *approvals.Call {
	c := &approvals.Call{
		Event: &s.ev, Decision: &s.outcome.Decision, Carries: s.carries, Project: s.project, Deadline: s.deadline,
		Pushed: call.Pushed, Skipped: s.skipped, OnGone: call.OnGone, OnHeld: call.OnHeld, OnSent: call.addAfter,
	}
	if call.dryRun != nil {
		c.Explain = call.dryRun.addNote
	}
	return c
}

func (s *pipelineState) setAsked(o approvals.Outcome) { s.asked, s.skipped = o.Asked, o.Skipped }

// isWithdrawn reports whether the daemon stopped before the decision was finished:
// it is then discarded. An answer of a person that is being delivered is finished.
func (s *pipelineState) isWithdrawn(ctx context.Context) bool {
	if s.asked == nil {
		return ctx.Err() != nil
	}
	return s.asked.End == queue.DaemonStops || ctx.Err() != nil && s.asked.End != queue.Answered
}

// RecordOwn records what hookmux itself has to tell: its way ends there.
func (p *Pipeline) RecordOwn(call *HookCall) {
	s := p.decode(call)
	// The next event's own write reports a broken disk.
	_ = p.Recorder.RecordEvent(call.ID, call.At, &s.ev, call.Payload)
	p.Finish(call)
}

// UndecidedCalls is how many calls are being decided.
func (p *Pipeline) UndecidedCalls() int { return p.open.waiting() }
