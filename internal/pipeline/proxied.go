package pipeline

import (
	"slices"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/authority/callers"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/protocols/ahp"
	"github.com/hookmux/hookmux/internal/wire"
)

// `hookmux acp` sits between an editor and an agent and tells what passes, in the
// agent's place. An agent that has hooks as well tells of the same session by
// itself, and better: then what the proxy only tells is dropped. What it asks about is
// decided all the same: whoever reports under a session's name takes no guard away.
//
// Only hooks that ran below the proxy speak for its session: reporting is open to
// every process, and any of them may name any session.

// hookedSessions are the sessions that agents' own hooks told of.
type hookedSessions struct {
	mu       sync.Mutex
	sessions bounded.Map[string, []hookSpeaker]
}

// hookSpeaker is an agent whose hooks told of a session, with the processes above the
// hook: the proxy is one of them where the agent runs below one.
type hookSpeaker struct {
	agent  string
	caller processKey
	above  []processKey
}

type processKey struct {
	pid   int
	start uint64
}

// Limits of what is remembered.
const (
	keepHooked   = 1024
	keepSpeakers = 8 // of one session
)

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

// isToldByHooks reports whether the agent's own hooks tell what a proxy tells here. It
// also remembers sessions whose hooks report, and gives a proxy's event the agent's
// name.
func (h *hookedSessions) isToldByHooks(known Callers, catalogue *agent.Catalogue, s *pipelineState, pid int) bool {
	ev := &s.ev
	if ev.Session == "" || catalogue.OwnAgent(ev.Native) {
		return false
	}
	caller := processKey{s.caller.PID, s.caller.Start}
	h.mu.Lock()
	speakers, _ := h.sessions.Get(ev.Session)
	h.mu.Unlock()
	if _, proxied := catalogue.Protocol(ev.Native); !proxied {
		speaks := func(one hookSpeaker) bool { return one.agent == ev.Agent && one.caller == caller }
		if pid <= 0 || len(speakers) == keepSpeakers || slices.ContainsFunc(speakers, speaks) {
			return false
		}
		one := hookSpeaker{agent: ev.Agent, caller: caller}
		for _, p := range known.Above(pid) {
			one.above = append(one.above, processKey{p.PID, p.Start})
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		speakers, _ = h.sessions.Get(ev.Session)
		h.sessions.Put(ev.Session, append(slices.Clip(speakers), one), keepHooked)
		return false
	}
	for _, one := range speakers {
		if slices.Contains(one.above, caller) {
			ev.Agent, ev.Where = one.agent, event.Place{}
			return ev.Kind != event.PermissionResolved && !s.carries.Deny
		}
	}
	return false
}
