package hub

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/tsmodule"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Inner events happen inside an agent: a model is about to be called, a piece
// of its answer came. They are many and large, and only files in TypeScript
// can make something of them. So the agent's plugin first asks which of them
// anybody listens to, sends those alone, and they pass beside the corridor:
// nothing is written down, and no status follows them.

// news lets callers wait for the next change.
type news struct {
	mu   sync.Mutex
	next chan struct{}
}

// after is closed at the next change.
func (n *news) after() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		n.next = make(chan struct{})
	}
	return n.next
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next != nil {
		close(n.next)
		n.next = nil
	}
}

// moved says that hooks may have to be made anew.
func (ms *modules) moved() {
	ms.version.Add(1)
	ms.news.tell()
}

// listeners are the hooks for an inner event, one for each file, in order.
func (h *Hub) listeners(in *arrival, p *passage) []*hook.Entry {
	if h.isOff() || p.ev.Nested {
		return nil
	}
	p.ev.Kind = event.Other // the same name may be a kind's elsewhere
	p.entries, p.project, p.ev.Projects = h.rules.forEvent(&p.ev, p.busy)
	var list []*hook.Entry
	known := map[*held]bool{}
	for _, e := range h.modules.withRuns(in, p) {
		run, ok := e.Run.(*moduleRun)
		if ok && !known[run.one] && (e.HookType == p.ev.Native || e.HookType == hook.Any) && e.For(&p.ev) {
			known[run.one] = true
			list = append(list, e)
		}
	}
	return list
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
	if list := h.listeners(in, &p); len(list) > 0 && !in.truncated && p.ev.Malformed == "" {
		stop := in.gone(cancel)
		answer = h.pass(ctx, in, &p, list)
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

func (h *Hub) pass(ctx context.Context, in *arrival, p *passage, list []*hook.Entry) json.RawMessage {
	inner, err := tsmodule.ReadInner(&p.ev)
	if err != nil {
		h.deps.Log.Warn("an inner event could not be read", "agent", p.ev.Agent, "event", p.ev.Native, "error", err)
		return nil
	}
	var steps []hook.Step
	for _, e := range list {
		call := hook.Call{Event: &p.ev, Hook: &e.Registration, Env: splitEnv(in.env), Project: p.project}
		began := time.Now()
		over, err := e.Run.(*moduleRun).pass(ctx, &call, inner)
		if ctx.Err() != nil && err != nil && !over {
			return nil // whoever asked is gone, or has no time left; what fails closed is told so
		}
		steps = append(steps, hook.Step{Hook: e.ID, Mode: hook.Advise, Took: time.Since(began), Err: err})
		if over {
			break
		}
	}
	h.judgeSteps(&p.ev, steps)
	return inner.Answer()
}

func (r *moduleRun) pass(ctx context.Context, call *hook.Call, i *tsmodule.Inner) (over bool, err error) {
	if err := r.one.wait(ctx); err != nil {
		return false, &moduleError{err}
	}
	m := r.ms.of(r.one)
	if m == nil {
		return false, nil
	}
	if over, err = m.Pass(ctx, call, i); err != nil {
		err = &moduleError{err}
	}
	return over, err
}

// wanted are the inner events that files listen to in a session.
func (h *Hub) wanted(a *agent.Agent, params *wire.WantedParams, peer proc.Cred) wire.WantedResult {
	in := arrival{agent: a.Name, cwd: params.Cwd, peer: peer}
	who := h.callers.of(peer.PID)
	out := wire.WantedResult{Events: []string{}}
	offers := map[*held]bool{}
	for _, name := range a.Inner {
		p := passage{caller: who, ev: event.Event{Agent: a.Name, Native: name, Session: params.Session, Cwd: params.Cwd, Nested: who.nested}}
		for _, e := range h.listeners(&in, &p) {
			if e.HookType != name {
				continue
			}
			if !slices.Contains(out.Events, name) {
				out.Events = append(out.Events, name)
			}
			one := e.Run.(*moduleRun).one
			if m := h.modules.of(one); m != nil && strings.HasPrefix(name, "hookmux_") && !offers[one] {
				offers[one] = true
				info := m.Info()
				out.Tools, out.Commands = append(out.Tools, info.Tools...), append(out.Commands, info.Commands...)
			}
		}
	}
	slices.Sort(out.Events)
	out.Known = slices.Clone(out.Events)
	for prefix, list := range map[string][]json.RawMessage{"tool:": out.Tools, "command:": out.Commands} {
		for _, raw := range list {
			var one struct{ Name string }
			_ = json.Unmarshal(raw, &one)
			out.Known = append(out.Known, prefix+one.Name)
		}
	}
	slices.Sort(out.Known)
	return out
}

func (h *Hub) doWanted(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	return h.awaitWanted(h.ctx, params, peer)
}

// settleAfter is what files have to be looked at again after a change: what
// counts is looked at a few times a second at most.
const settleAfter = lookAgain + 50*time.Millisecond

func (h *Hub) awaitWanted(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.WantedParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	a, ok := h.deps.Catalogue.Agent(p.Agent)
	if !ok {
		return nil, wire.Errorf(wire.CodeParams, "%s needs the name of an agent", wire.MethodWanted)
	}
	left := time.Duration(p.Wait * float64(time.Second))
	if left < 0 || left > outboxWait {
		left = outboxWait
	}
	if h.wanted(a, &p, peer); h.modules.settle(ctx) {
		wait(ctx, settleAfter) // an agent that starts asks once, before its first events
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	for {
		change := h.modules.news.after()
		list := h.wanted(a, &p, peer)
		if left == 0 || !slices.Equal(list.Known, p.Known) {
			return list, nil
		}
		select {
		case <-change:
			wait(ctx, settleAfter)
		case <-ctx.Done():
			return list, nil
		}
	}
}
