// Package pipeline takes one hook call front to back: identify, decode, dedupe, record,
// track, run hooks, approve, encode. [Pipeline.process] shows that on one page, and
// [Pipeline.finish] what runs after the answer. One call value travels the whole way.
//
//   - decode.go     who called, and native bytes → event
//   - state.go      the service, and a call with what the steps find out about it
//   - proxied.go    what a proxy reports in an agent's place
//   - duplicates.go the same call reported through two agents' files
//   - runhooks.go   guards and hooks in order
//   - contained.go  callers in a container, which may only report and be blocked
//   - later.go      observers and hooks in log mode, after the answer
//   - keepgoing.go  how often a turn may be kept going
//   - outcome.go    how the call was decided, for the journal
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

// Answer processes a call once per id, however often the id comes. ok is false if the
// daemon stopped on the way: an unfinished decision is discarded, and waiting clients are
// disconnected so that they ask the next daemon. It is also false if the caller left. Call
// finish once the caller has the answer.
func (p *Pipeline) Answer(ctx context.Context, in *services.Call) (
	answer neutral.Answer, decision event.Decision, finish func(), ok bool) {
	c := &call{Call: in}
	finish = func() { p.finish(c) }
	if row, known := neutral.Lookup(in.Frame.Agent, in.Frame.Event); known && !row.Decides {
		answer, decision, ok = p.process(ctx, c)
		return answer, decision, finish, ok
	}
	one, ready, first := p.open.beginCall(in.Frame.ID)
	if !first {
		if ready != nil {
			select {
			case <-ready:
			case <-ctx.Done():
				return neutral.Answer{}, event.Decision{}, finish, false
			}
		}
		return one.answer, one.decision, finish, one.answered
	}
	answered := false
	defer func() {
		if !answered {
			p.open.forget(in.Frame.ID, one)
		}
	}()
	one.answer, one.decision, one.answered = p.process(ctx, c)
	if one.answered {
		answered = true
		p.open.keepAnswer(in.Frame.ID, one)
	}
	return one.answer, one.decision, finish, one.answered
}

// ProcessUnanswered processes a call whose caller expects no answer.
func (p *Pipeline) ProcessUnanswered(ctx context.Context, in *services.Call) {
	c := &call{Call: in}
	p.process(ctx, c)
	p.finish(c)
}

// process takes one call through every step that comes before the answer.
func (p *Pipeline) process(ctx context.Context, c *call) (neutral.Answer, event.Decision, bool) {
	p.identify(c)              // which process called, and of which agent
	p.decode(c)                // native bytes → event, as that agent spells it
	p.locate(c)                // where it runs, what it can take back, until when
	p.noteHookedSession(c)     // the agent's own hooks report this session
	if p.absorbProxyEvent(c) { // a proxy reports what those hooks report
		return neutral.Answer{}, event.Decision{}, true
	}
	p.findDuplicate(c)          // reported twice, through another agent's file?
	defer c.releaseDuplicates() // whoever waits for this one is on its own
	if !p.recordEvent(c) {      // on disk, so it may be acknowledged
		return neutral.Answer{}, event.Decision{}, false
	}
	if !c.isDuplicate() {
		if approvals.CanAsk(c.Event.Kind) {
			defer p.Sessions.Deciding(&c.Event)() // not yet at the agent's own prompt
		}
		p.notifyTrackers(c) // status, turn, title
	}
	if !p.awaitFirstDecision(ctx, c) { // a duplicate gets what the first got
		p.decide(ctx, c)
	}
	if c.isWithdrawn(ctx) {
		return neutral.Answer{}, event.Decision{}, false
	}
	c.publishDecision()             // to duplicates that wait
	answer, decision := p.encode(c) // decision → the agent's own format
	if !c.isDuplicate() {
		p.Sessions.ApplyDecision(&c.Event, decision)
		p.Selection.NoteDecision(&c.Event, decision)
	}
	p.recordOutcome(c, decision) // what came of it, for the journal and the streams
	p.measure(c, decision)       // how long it took, for a collector
	return answer, decision, c.Skipped != services.CallerLeft
}

// finish does what waits until the caller has its answer. Nothing else does.
func (p *Pipeline) finish(c *call) {
	p.Recorder.Wake()    // the journal stores what was recorded
	p.noteTelemetry(c)   // a collector gets the call
	c.confirmDelivered() // a request that you answered is over
	p.runObservers(c)    // hooks that only observe
	p.runLogOnlyLater(c) // hooks in log mode that may take long
}

// readCall takes a call through the steps that need nothing but what came in.
func (p *Pipeline) readCall(in *services.Call) *call {
	c := &call{Call: in}
	p.identify(c)
	p.decode(c)
	p.locate(c)
	return c
}

func (c *call) confirmDelivered() {
	if c.Delivered != nil {
		c.Delivered()
	}
}

// decide runs hooks and asks a permission or you. A dry run comes this way as well.
func (p *Pipeline) decide(ctx context.Context, c *call) {
	p.runHooks(ctx, c) // guards, rules and hooks in order, one merge
	if ctx.Err() != nil {
		return // an unfinished decision is discarded
	}
	p.capKeepGoing(c)
	if c.Container != "" {
		c.confineDecision() // nobody is asked, and no permission counts there
		return
	}
	c.setAsked(p.Approvals.Decide(ctx, c.Call)) // must a person decide? then wait
}

// recordEvent writes the event down. From here on it survives the death of the
// daemon. It is false when this daemon can keep nothing any more and another one could:
// the daemon ends, and the caller asks the next.
func (p *Pipeline) recordEvent(c *call) bool {
	err := p.Recorder.RecordEvent(c.Frame.ID, c.At, &c.Event, c.Frame.Payload)
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
	if !c.isDuplicate() {
		p.stats.countEvent(&c.Event)
	}
	return true
}

// notifyTrackers gives the event to every service that keeps a state.
func (p *Pipeline) notifyTrackers(c *call) {
	p.keepGoing.observe(&c.Event)
	p.Selection.NoteSession(&c.Event)
	p.Sessions.Apply(&c.Event, c.Frame.Seq)
	p.Approvals.Observe(&c.Event)
}

func (c *call) setAsked(o approvals.Outcome) { c.asked, c.Skipped = o.Asked, o.Skipped }

// isWithdrawn reports whether the daemon stopped before the decision was finished; then
// it is discarded. Your answer, once it is being delivered, is finished.
func (c *call) isWithdrawn(ctx context.Context) bool {
	if c.asked == nil {
		return ctx.Err() != nil
	}
	return c.asked.End == queue.DaemonStops || ctx.Err() != nil && c.asked.End != queue.Answered
}

// RecordOwn records what hookmux itself reports: nothing decides about it.
func (p *Pipeline) RecordOwn(in *services.Call) {
	c := p.readCall(in)
	// The next event's own write reports a broken disk.
	_ = p.Recorder.RecordEvent(in.Frame.ID, in.At, &c.Event, in.Frame.Payload)
	p.finish(c)
}

// UndecidedCalls returns how many calls are being decided.
func (p *Pipeline) UndecidedCalls() int { return p.open.waiting() }
