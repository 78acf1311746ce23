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

// Methods returns the methods of the pipeline but event.push, which may take long.
func (p *Pipeline) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodExplain: {Run: p.explain}, wire.MethodExplainRun: {Run: p.explainRunning},
	}
}

// LongMethods returns the methods that may wait for hooks or for you.
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
	in := &services.Call{At: time.Now(), Peer: peer, Pushed: true, OnGone: onContextEnd(ctx), Frame: frame.Request{
		ID: pushed.ID, Agent: pushed.Agent, Event: pushed.Event, Cwd: pushed.Cwd, Payload: pushed.Payload,
		Deadline: time.Duration(pushed.Timeout * float64(time.Second)),
	}}
	if len(pushed.Env) > 0 {
		in.Frame.Env = proc.JoinEnv(pushed.Env)
	}
	answer, decision, finish, ok := p.Answer(p.ctx, in)
	finish()
	if !ok {
		return nil, wire.Errorf(wire.CodeWithdrawn,
			"the daemon is stopping; push the event again with the same id")
	}
	d, _ := json.Marshal(decision)
	return wire.PushResult{ID: pushed.ID, Stdout: answer.Stdout, Stderr: answer.Stderr, ExitCode: answer.Exit,
		Decision: d, Unknown: unknownReason(p.Deps, pushed.Agent, pushed.Event)}, nil
}

// unknownReason says why an event can't be understood; "" if it can.
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

// Push takes an event from a program and lets hooks, permissions and you decide
// about it.
func (p *Pipeline) Push(ctx context.Context, pushed approvals.Pushed) approvals.PushResult {
	in := &services.Call{At: time.Now(), Peer: pushed.Peer, Pushed: true, OnGone: onContextEnd(ctx), Frame: frame.Request{
		ID: frame.NewID(), Agent: pushed.Agent, Event: pushed.Name, Cwd: pushed.Cwd, Payload: pushed.Payload,
		Deadline: pushed.Wait,
	}}
	if !p.knowsEvent(p.Deps.AgentName(pushed.Agent), pushed.Name) {
		in.Frame.Agent = "" // the program's own name of it, read as of an agent without a description
	}
	c := p.readCall(in)
	c.Event.Agent, c.Event.Session = pushed.Agent, pushed.Session // it says so itself, whoever pushes for it
	if c.Event.Cwd == "" {
		c.Event.Cwd = pushed.Cwd
	}
	need, asks := pushed.Prepare(&c.Event)
	p.recordEvent(c)
	p.notifyTrackers(c)
	defer p.finish(c)
	result := approvals.PushResult{ID: c.Frame.ID}
	if pushed.Wait <= 0 || !asks {
		return result
	}
	c.Carries = event.Carries{Allow: true, Deny: true}
	p.runHooks(ctx, c) // guards first
	if pushed.AfterHooks(&c.Outcome.Decision) {
		c.setAsked(p.Approvals.DecidePushed(ctx, c.Call, need, pushed.Wait, pushed.Key))
	}
	if c.isWithdrawn(p.ctx) {
		result.Withdrawn = true
		return result
	}
	p.Sessions.ApplyDecision(&c.Event, c.Outcome.Decision)
	p.recordOutcome(c, c.Outcome.Decision)
	result.Decided, result.Decision = true, c.Outcome.Decision
	result.Outcome = approvals.Outcome{Asked: c.asked, Skipped: c.Skipped}
	return result
}
