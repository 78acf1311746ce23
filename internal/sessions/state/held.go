package state

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// RequestOpened tells that hookmux holds a request of an event for a person.
// Whatever the settings say about following the agent's status, this is known.
func (b *Book) RequestOpened(id string, ev *event.Event, at time.Time, rules Rules) Change {
	n := input{ev: ev, at: at, rules: rules}
	b.mu.Lock()
	defer b.mu.Unlock()
	key, ok := b.findSession(&n)
	if !ok {
		key, n.actor = Key{ev.Agent, requestPrefix + id}, ""
	}
	old := b.store.getSession(key)
	next := newSession(key, at)
	if old != nil {
		next = old.copySession()
	} else {
		next.recordFacts(&n)
	}
	if !next.Live() {
		next.reviveSession() // whoever asks lives
	}
	held := Held{ID: id, At: at, What: askFor(next, &n).What}
	if ask := next.findAsk(&n); ask != nil {
		held.Ask, held.At = ask.N, ask.At
	}
	next.Held = append(next.Held[:len(next.Held):len(next.Held)], held)
	b.held[id] = key
	c := Change{Key: key}
	b.commitChange(old, next, &c)
	return c
}

// RequestEnded tells that the request is held no more. settled says that the
// person decided, here or in the agent's window, or that the agent is gone; else
// the agent's own question about the same, if there is one, is still open.
func (b *Book) RequestEnded(id string, settled bool, at time.Time) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	key, ok := b.held[id]
	delete(b.held, id)
	old := b.store.getSession(key)
	if !ok || old == nil {
		return Change{Key: key}
	}
	next := old.copySession()
	ask := 0
	next.Held = removeWhere(next.Held, func(h *Held) bool {
		if h.ID == id {
			ask = h.Ask
		}
		return h.ID == id
	})
	if len(next.Held) == 0 && key.ID == requestPrefix+id {
		b.dropSession(key)
		return Change{Key: key, From: old.Status, To: NeverRan, Gone: true}
	}
	if ask != 0 {
		next.endHeldAsk(id, ask, settled)
	}
	if len(next.Asks)+len(next.Held) == 0 && next.Live() && next.Turn.Open() && next.Machine.Base != Unsure {
		next.Machine.setBase(Running, at)
	}
	c := Change{Key: key}
	b.commitChange(old, next, &c)
	return c
}

// endHeldAsk takes the agent's own question out, or remembers which request it
// was while it stays open.
func (s *Session) endHeldAsk(id string, number int, settled bool) {
	if settled {
		s.Asks = removeWhere(s.Asks, func(a *Ask) bool { return a.N == number })
		return
	}
	for i := range s.Asks {
		if s.Asks[i].N == number {
			ask := s.Asks[i]
			ask.Request = id
			s.Asks = replaceAt(s.Asks, i, ask)
			return
		}
	}
}

// findAsk is the open question that an event put, nil when there is none.
func (s *Session) findAsk(n *input) *Ask {
	if n.ev.Kind == event.ToolBefore && (n.ev.Tool == nil || n.ev.Tool.Kind != event.Question) {
		return nil // before a call the agent itself asks nothing
	}
	for i := range s.Asks {
		ask := &s.Asks[i]
		if s.isHeld(ask) {
			continue
		}
		if tool := n.ev.Tool; tool != nil {
			call := Call{ID: tool.CallID, Tool: tool.Name, Digest: inputDigest(tool)}
			if ask.isAbout(&call) {
				return ask
			}
		} else if ask.Actor == n.actor && ask.namesNoCall() {
			return ask
		}
	}
	return nil
}

// OpenAsks are the questions that stand in the agent's own window alone.
func (s *Session) OpenAsks() []Ask {
	var open []Ask
	for i := range s.Asks {
		if !s.isHeld(&s.Asks[i]) {
			open = append(open, s.Asks[i])
		}
	}
	return open
}
