package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Methods are the methods of the pipeline but event.push, which may take long.
func (p *Pipeline) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodExplain: {Run: p.explain}, wire.MethodExplainRun: {Run: p.explainRunning},
	}
}

// LongMethods are the methods that may wait for hooks or a person.
func (p *Pipeline) LongMethods() map[string]services.LongMethod {
	return map[string]services.LongMethod{wire.MethodPush: p.pushMethod}
}

// onContextEnd calls cancel when ctx ends: a caller that hung up.
func onContextEnd(ctx context.Context) func(cancel func()) (stop func()) {
	return func(cancel func()) func() {
		off := context.AfterFunc(ctx, cancel)
		return func() { off() }
	}
}

// pushMethod takes an event from a program instead of a hook process.
func (p *Pipeline) pushMethod(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var pushed wire.PushParams
	if err := services.ReadParams(params, &pushed); err != nil {
		return nil, err
	}
	if pushed.Agent == "" || pushed.Event == "" {
		return nil, wire.Errorf(wire.CodeParams, "event.push needs agent and event")
	}
	if pushed.ID == "" {
		pushed.ID = frame.NewID()
	}
	call := HookCall{
		ID: pushed.ID, Agent: pushed.Agent, Event: pushed.Event, Cwd: pushed.Cwd, Payload: pushed.Payload,
		At: time.Now(), Peer: peer, Pushed: true, Limit: time.Duration(pushed.Timeout * float64(time.Second)),
		OnGone: onContextEnd(ctx),
	}
	if len(pushed.Env) > 0 {
		call.Env = proc.JoinEnv(pushed.Env)
	}
	answer, decision, ok := p.Answer(p.ctx, &call)
	p.Finish(&call)
	if !ok {
		return nil, wire.Errorf(wire.CodeWithdrawn,
			"the daemon is stopping; push the event again with the same id")
	}
	d, _ := json.Marshal(decision)
	return wire.PushResult{ID: pushed.ID, Stdout: answer.Stdout, Stderr: answer.Stderr, ExitCode: answer.Exit,
		Decision: d, Unknown: unknownReason(p.Deps, pushed.Agent, pushed.Event)}, nil
}

// unknownReason says why nobody could look at an event; "" where it is known.
func unknownReason(deps services.Deps, agent, name string) string {
	if deps.Catalogue.KnowsEvent(agent, name) {
		return ""
	}
	if _, known := deps.Catalogue.Agent(agent); !known {
		return fmt.Sprintf("no agent %q is known here, and no event %s that agents share: it is recorded, and no "+
			"guard looked at it", agent, name)
	}
	return fmt.Sprintf("%s has no event %s that hookmux knows: it is recorded, and no guard looked at it",
		deps.AgentTitle(agent), name)
}

// Push takes an event from a program and lets hooks, permissions and a person decide
// about it.
func (p *Pipeline) Push(ctx context.Context, pushed approvals.Pushed) approvals.PushResult {
	call := HookCall{
		ID: frame.NewID(), Agent: pushed.Agent, Event: pushed.Name, Cwd: pushed.Cwd, Payload: pushed.Payload,
		At: time.Now(), Peer: pushed.Peer, Limit: pushed.Wait, Pushed: true, OnGone: onContextEnd(ctx),
	}
	if !p.knowsEvent(p.Deps.AgentName(pushed.Agent), pushed.Name) {
		call.Agent = "" // the program's own name of it, read as of an agent nobody described
	}
	s := p.decode(&call)
	s.ev.Agent, s.ev.Session = pushed.Agent, pushed.Session // it says so itself, whoever pushes for it
	if s.ev.Cwd == "" {
		s.ev.Cwd = pushed.Cwd
	}
	need, asks := pushed.Prepare(&s.ev)
	p.recordEvent(&call, s)
	p.notifyTrackers(&call, s)
	defer p.Finish(&call)
	result := approvals.PushResult{ID: call.ID}
	if pushed.Wait <= 0 || !asks {
		return result
	}
	s.carries = event.Carries{Allow: true, Deny: true}
	p.runHooks(ctx, &call, s) // guards first
	if pushed.AfterHooks(&s.outcome.Decision) {
		s.setAsked(p.Approvals.DecidePushed(ctx, approvalCall(&call, s), need, pushed.Wait, pushed.Key))
	}
	if s.isWithdrawn(p.ctx) {
		result.Withdrawn = true
		return result
	}
	p.Sessions.ApplyDecision(&s.ev, s.outcome.Decision)
	p.recordOutcome(&call, s, s.outcome.Decision)
	result.Decided, result.Decision = true, s.outcome.Decision
	result.Outcome = approvals.Outcome{Asked: s.asked, Skipped: s.skipped}
	return result
}
