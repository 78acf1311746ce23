package pipeline

import (
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/authority/callers"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/tshook/host"
	"github.com/hookmux/hookmux/internal/wire"
)

// Inner events happen inside an agent: a model is about to be called, a piece
// of its answer came. They are many and large, and only hooks in TypeScript can
// make something of them. They pass beside the pipeline: nothing is written
// down, and no status follows them.

// InnerHooks are the hooks that count for an inner event of a process.
func (p *Pipeline) InnerHooks(ev *event.Event, peer proc.Cred) []*hook.Entry {
	who := p.Callers.Of(peer.PID)
	ev.Nested = who.Nested
	entries, _ := p.innerHooks(ev, who, nil, peer)
	return entries
}

// innerHooks are the hooks that count for an inner event, and its project.
func (p *Pipeline) innerHooks(ev *event.Event, who callers.Caller, busy map[string]bool,
	peer proc.Cred) ([]*hook.Entry, string) {
	if p.Off.IsOff() || ev.Nested {
		return nil, ""
	}
	ev.Kind = event.Other // the same name may be a kind's elsewhere
	entries, project, projects := p.Selection.ForEvent(ev, busy)
	ev.Projects = projects
	call := host.Call{Event: ev, Agent: host.Process{PID: who.PID, Start: who.Start}, PeerPID: peer.PID}
	return p.Modules.WithLaunches(call, entries), project
}

// AnswerInner shows an inner event to whoever listens, one after the other. It
// is false when the daemon ends.
func (p *Pipeline) AnswerInner(ctx context.Context, call *HookCall) (answer json.RawMessage, ok bool) {
	s := p.decode(call)
	passing, cancel := context.WithDeadline(ctx, s.deadline)
	defer cancel()
	if why := p.forgedReason(call, s); why != "" {
		s.ev.Malformed = why
		p.Deps.Log.Warn("an inner event was refused", "agent", s.ev.Agent, "event", s.ev.Native, "pid",
			call.Peer.PID, "why", why)
	}
	entries, project := p.innerHooks(&s.ev, s.caller, s.busy, call.Peer)
	if list := p.Modules.Listeners(&s.ev, entries); len(list) > 0 && !call.Truncated && s.ev.Malformed == "" {
		stop := call.OnGone(cancel)
		var steps []hook.Step
		answer, steps = p.Modules.PassInner(passing,
			hook.Call{Event: &s.ev, Env: proc.SplitEnv(call.Env), Project: project}, list)
		p.later.countSteps(&s.ev, steps)
		stop()
	}
	return answer, ctx.Err() == nil
}

// forgedReason says why an event that makes a file act cannot be what it says.
// Tools and commands that files offer run in the daemon: what an agent started
// must not call a tool past the agent's own gates, and a command is a person's,
// typed at an agent that no other one started.
func (p *Pipeline) forgedReason(call *HookCall, s *pipelineState) string {
	if !wire.IsPluginEvent(s.ev.Native) {
		return ""
	}
	if s.caller.Agent != s.ev.Agent || s.caller.PID != call.Peer.PID {
		return "sent by another process than the agent's"
	}
	if s.ev.Native != wire.EventOfferedCommand {
		return ""
	}
	if own, err := p.Deps.Processes.Lookup(s.caller.PID); err != nil || p.StartedByAgent(own.PPID) {
		return "the agent was started by another one, so nobody typed it"
	}
	return ""
}
