package pipeline

import (
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/ahp"
	"github.com/hookmux/hookmux/internal/boundedmap"
	"github.com/hookmux/hookmux/internal/callers"
	"github.com/hookmux/hookmux/internal/wire"
)

// `hookmux acp` sits between an editor and an agent and tells what passes, in the
// agent's place. An agent that has hooks as well tells of the same session by
// itself, and better: then only requests for permission count of what the proxy
// tells, and for the session that the hooks told of.

// hookedSessions are the sessions that agents' own hooks told of.
type hookedSessions struct {
	mu     sync.Mutex
	agents boundedmap.Map[string, string] // session → agent
}

// keepHooked bounds how many sessions are remembered.
const keepHooked = 1024

// callerOf is who stands behind a call. Behind one that a proxy tells stands the
// proxy itself: the agent runs below it and ends with it.
func callerOf(known Callers, catalogue *agent.Catalogue, pid int, name, native string) callers.Caller {
	if catalogue.OwnAgent(native) {
		return known.OfHarness(pid, native == ahp.EventConnect)
	}
	if _, proxied := catalogue.Protocol(native); proxied {
		return known.OfProxy(pid, name)
	}
	if native == wire.ProbeEvent {
		return known.OfProbe(pid)
	}
	return known.Of(pid)
}

// isToldByHooks reports whether the agent's own hooks tell what a proxy tells here. A
// request for permission counts all the same. It also remembers sessions whose hooks
// report, and gives a proxy's event the agent's name.
func (h *hookedSessions) isToldByHooks(catalogue *agent.Catalogue, ev *event.Event) bool {
	if ev.Session == "" || catalogue.OwnAgent(ev.Native) {
		return false
	}
	_, proxied := catalogue.Protocol(ev.Native)
	h.mu.Lock()
	defer h.mu.Unlock()
	name, hooked := h.agents.Get(ev.Session)
	if !proxied {
		if !hooked || name != ev.Agent {
			h.agents.Put(ev.Session, ev.Agent, keepHooked)
		}
		return false
	}
	if !hooked {
		return false
	}
	ev.Agent, ev.Where = name, event.Place{}
	return ev.Kind != event.PermissionRequest && ev.Kind != event.PermissionResolved
}
