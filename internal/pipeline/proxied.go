package pipeline

import (
	"slices"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/authority/callers"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/wire"
)

// `hookmux acp` sits between an editor and an agent and reports what passes, in the agent's
// place. An agent that has hooks as well reports the same session itself, and better: then
// what the proxy only reports is dropped. What it asks about is decided all the same, so
// reporting under a session's name takes no guard away.
//
// Only hooks that ran below the proxy speak for its session: reporting is open to
// every process, and any of them may name any session.

// hookedSessions are the sessions that agents' own hooks reported.
type hookedSessions struct {
	mu       sync.Mutex
	sessions bounded.Map[string, []hookSpeaker]
}

// hookSpeaker is an agent whose hooks reported a session, with the processes above the
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

// callerOf returns the agent process behind a call. For an event that a proxy reports it is
// the proxy itself: the agent runs below it and ends with it.
func callerOf(known Callers, catalogue *agent.Catalogue, pid int, name, native string) callers.Caller {
	if _, proxied := catalogue.Protocol(native); proxied {
		return known.OfProxy(pid, name)
	}
	if native == wire.ProbeEvent {
		return known.OfProbe(pid)
	}
	return known.Of(pid)
}

// noteHookedSession remembers which agent's hooks report a session, and what they run below.
func (p *Pipeline) noteHookedSession(c *call) {
	h, ev := &p.hooked, &c.Event
	if ev.Session == "" || c.Peer.PID <= 0 || p.isProxied(ev) {
		return
	}
	caller := processKey{c.caller.PID, c.caller.Start}
	speakers := h.speakersOf(ev.Session)
	speaks := func(one hookSpeaker) bool { return one.agent == ev.Agent && one.caller == caller }
	if len(speakers) == keepSpeakers || slices.ContainsFunc(speakers, speaks) {
		return
	}
	one := hookSpeaker{agent: ev.Agent, caller: caller}
	for _, above := range p.Callers.Above(c.Peer.PID) {
		one.above = append(one.above, processKey{above.PID, above.Start})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	speakers, _ = h.sessions.Get(ev.Session)
	h.sessions.Put(ev.Session, append(slices.Clip(speakers), one), keepHooked)
}

// absorbProxyEvent gives an event that a proxy reports the name of the agent whose own hooks
// report that session. It returns true when the event ends here: the hooks report it as well,
// and the proxy asks about nothing.
func (p *Pipeline) absorbProxyEvent(c *call) (absorbed bool) {
	ev := &c.Event
	if ev.Session == "" || !p.isProxied(ev) {
		return false
	}
	caller := processKey{c.caller.PID, c.caller.Start}
	for _, one := range p.hooked.speakersOf(ev.Session) {
		if slices.Contains(one.above, caller) {
			ev.Agent, ev.Where = one.agent, event.Place{}
			return ev.Kind != event.PermissionResolved && !c.Carries.Deny
		}
	}
	return false
}

func (p *Pipeline) isProxied(ev *event.Event) bool {
	_, proxied := p.Deps.Catalogue.Protocol(ev.Native)
	return proxied
}

func (h *hookedSessions) speakersOf(session string) []hookSpeaker {
	h.mu.Lock()
	defer h.mu.Unlock()
	speakers, _ := h.sessions.Get(session)
	return speakers
}
