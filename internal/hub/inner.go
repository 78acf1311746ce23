package hub

import (
	"context"
	"encoding/json"
	"net"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/tsmodule/host"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// innerHooks are the hooks that count for an inner event, and its project.
func (h *Hub) innerHooks(ev *event.Event, who caller, busy map[string]bool, peer proc.Cred) ([]*hook.Entry, string) {
	if h.selection.Off.IsOff() || ev.Nested {
		return nil, ""
	}
	ev.Kind = event.Other // the same name may be a kind's elsewhere
	entries, project, roots := h.selection.ForEvent(ev, busy)
	ev.Projects = roots
	call := host.Call{Event: ev, Agent: host.Process{PID: who.pid, Start: who.start}, PeerPID: peer.PID}
	return h.modules.WithLaunches(call, entries), project
}

// serveInner shows an inner event to whoever listens, one after the other.
func (h *Hub) serveInner(conn *net.UnixConn, in *arrival) {
	p := h.decode(in)
	ctx, cancel := context.WithDeadline(h.ctx, p.deadline)
	defer cancel()
	var answer json.RawMessage
	if why := h.forged(in, &p); why != "" {
		p.ev.Malformed = why
		h.deps.Log.Warn("an inner event was refused", "agent", p.ev.Agent, "event", p.ev.Native, "pid", in.peer.PID, "why", why)
	}
	entries, project := h.innerHooks(&p.ev, p.caller, p.busy, in.peer)
	if list := h.modules.Listeners(&p.ev, entries); len(list) > 0 && !in.truncated && p.ev.Malformed == "" {
		stop := in.gone(cancel)
		var steps []hook.Step
		answer, steps = h.modules.PassInner(ctx, hook.Call{Event: &p.ev, Env: splitEnv(in.env), Project: project}, list)
		h.judgeSteps(&p.ev, steps)
		stop()
	}
	if h.ctx.Err() == nil {
		h.write(conn, frame.AppendReply(nil, &frame.Reply{ID: in.id, Stdout: answer}))
	}
}

// forged says why an event that makes a file act cannot be what it says. Tools
// and commands that files offer run in the hub: what an agent started must not
// call a tool past the agent's own gates, and a command is a person's, typed at
// an agent that no other one started.
func (h *Hub) forged(in *arrival, p *passage) string {
	if !strings.HasPrefix(p.ev.Native, "hookmux_") {
		return ""
	}
	if p.caller.agent != p.ev.Agent || p.caller.pid != in.peer.PID {
		return "sent by another process than the agent's"
	}
	if p.ev.Native != "hookmux_command" {
		return ""
	}
	if own, err := h.deps.Processes.Lookup(p.caller.pid); err != nil || h.judge.Caller(own.PPID, "").Agent != "" {
		return "the agent was started by another one, so nobody typed it"
	}
	return ""
}

// moduleSelection tells files what applies where.
type moduleSelection struct{ h *Hub }

func (s moduleSelection) Settings() *config.Settings { return s.h.selection.Config.Settings() }

func (s moduleSelection) Refresh(root string) { s.h.selection.Refresh(root) }

func (s moduleSelection) FindProject(cwd string) string {
	return s.h.selection.Registry.FindProject(cwd)
}

func (s moduleSelection) Trusted(root string) bool {
	return s.h.selection.Trust.InForce(root).Status == trust.Trusted
}

func (s moduleSelection) InnerHooks(ev *event.Event, peer proc.Cred) []*hook.Entry {
	who := s.h.callers.of(peer.PID)
	ev.Nested = who.nested
	entries, _ := s.h.innerHooks(ev, who, nil, peer)
	return entries
}

// pluginCalls reaches hookmux's plugins inside agents.
type pluginCalls struct{ h *Hub }

func (c pluginCalls) Send(agent, session, text string) (bool, error) {
	return c.h.sendTo(agent, session, text)
}

func (c pluginCalls) Call(ctx context.Context, agent, session string, call json.RawMessage) (wire.OutboxDone, bool, error) {
	return c.h.outbox.put(ctx, agent, wire.OutboxText{ID: frame.NewID(), Session: session, Call: call})
}

func (h *Hub) newModules() *host.Service {
	return host.New(h.ctx, h.deps, host.Options{
		Version: h.version, Selection: moduleSelection{h}, People: h, Plugins: pluginCalls{h}, Journal: h.journal,
		Environment:  func(id string) []string { return []string{handlerVariable + "=" + h.marks.mark(id)} },
		HookReloaded: func(id string) { h.selection.DropProblemsOf(id) },
	})
}
