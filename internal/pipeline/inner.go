package pipeline

import (
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/authority/callers"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tshook/host"
	"github.com/hookmux/hookmux/internal/wire"
)

// Inner events happen inside an agent: a model is about to be called, a piece
// of its answer came. They are many and large, and only hooks in TypeScript can
// make something of them. They pass beside the pipeline: nothing is written
// down, and no status follows them.

// InnerHooks returns the hooks that count for an inner event of a process.
func (p *Pipeline) InnerHooks(ev *event.Event, peer proc.Cred) []*hook.Entry {
	who := p.Callers.Of(peer.PID)
	ev.Nested = who.Nested
	entries, _ := p.innerHooks(ev, who, nil, peer)
	return entries
}

// innerHooks returns the hooks that count for an inner event, and its project.
func (p *Pipeline) innerHooks(ev *event.Event, who callers.Caller, busy map[string]bool,
	peer proc.Cred) ([]*hook.Entry, string) {
	if p.Off.IsOff() || ev.Nested {
		return nil, ""
	}
	ev.Kind = event.Other // the same name may be a kind's elsewhere
	entries, project, projects := p.Selection.ForEvent(ev, busy)
	ev.Projects = projects
	agent := host.Process{PID: who.PID, Start: who.Start}
	return p.TSHooks.WithLaunches(hook.Call{Event: ev}, agent, peer.PID, entries), project
}

// AnswerInner passes an inner event to its listeners, one after the other. It is false
// if the daemon stops.
func (p *Pipeline) AnswerInner(ctx context.Context, in *services.Call) (answer json.RawMessage, ok bool) {
	c := p.readCall(in)
	passing, cancel := context.WithDeadline(ctx, c.Deadline)
	defer cancel()
	if why := p.forgedReason(c); why != "" {
		c.Event.Malformed = why
		p.Deps.Log.Warn("an inner event was refused", "agent", c.Event.Agent, "event", c.Event.Native, "pid",
			c.Peer.PID, "why", why)
	}
	entries, project := p.innerHooks(&c.Event, c.caller, c.busy, c.Peer)
	if list := p.TSHooks.Listeners(&c.Event, entries); len(list) > 0 && !c.Frame.Truncated && c.Event.Malformed == "" {
		stop := c.OnGone(cancel)
		var steps []hook.Step
		answer, steps = p.TSHooks.PassInner(passing,
			hook.Call{Event: &c.Event, Env: proc.SplitEnv(c.Frame.Env), Project: project}, list)
		p.later.countSteps(&c.Event, steps)
		stop()
	}
	return answer, ctx.Err() == nil
}

// forgedReason says why an event that makes a file act can't be what it claims.
// Tools and commands that files offer run in the daemon: what an agent started
// must not call a tool past the agent's own approval policy, and only you give a
// command, typed at an agent that no other agent started.
func (p *Pipeline) forgedReason(c *call) string {
	if !wire.IsPluginEvent(c.Event.Native) {
		return ""
	}
	if c.caller.Agent != c.Event.Agent || c.caller.PID != c.Peer.PID {
		return "sent by another process than the agent's"
	}
	if c.Event.Native != wire.EventOfferedCommand {
		return ""
	}
	if own, err := p.Deps.Processes.Lookup(c.caller.PID); err != nil || p.StartedByAgent(own.PPID) {
		return "the agent was started by another one, so nobody typed it"
	}
	return ""
}
