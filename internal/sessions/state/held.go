package state

import (
	"strconv"
	"time"

	"github.com/hookmux/hookmux/event"
)

// Held is a request that hookmux itself keeps waiting for a person, as opposed to
// a question that stands in the agent's own window.
type Held struct {
	ID   string    `json:"id"` // of the request
	At   time.Time `json:"at"`
	What string    `json:"what,omitempty"` // in words
	// Ask is the number of the agent's own question about the same, 0 for none:
	// when the request ends without an answer, that question is still open.
	Ask int `json:"ask,omitempty"`
}

// requestPrefix begins the id of a session that was made for a request which
// names none. It leaves with the request.
const requestPrefix = "request:"

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

// isHeld reports whether hookmux holds a request about the question.
func (s *Session) isHeld(ask *Ask) bool {
	for i := range s.Held {
		if s.Held[i].Ask != 0 && s.Held[i].Ask == ask.N {
			return true
		}
	}
	return false
}

// Waiting is one thing of a session that waits for a person.
type Waiting struct {
	ID   string // of the request, or of the question in the agent's window
	Held bool   // hookmux holds it; else it stands in the agent's own window
	At   time.Time
	What string // in words
	Tool string
	Kind event.ToolKind
}

// WaitingList is everything of a session that waits for a person: what hookmux
// holds, and what stands in the agent's own window alone. A session that has
// ended waits for nobody.
func (s *Session) WaitingList() []Waiting {
	if !s.Live() {
		return nil
	}
	var list []Waiting
	for i := range s.Held {
		h := &s.Held[i]
		list = append(list, Waiting{ID: h.ID, Held: true, At: h.At, What: h.What})
	}
	for i := range s.Asks {
		if ask := &s.Asks[i]; !s.isHeld(ask) {
			list = append(list, Waiting{ID: s.askID(ask), At: ask.At, What: ask.inWords(), Tool: ask.Tool, Kind: ask.Kind})
		}
	}
	return list
}

// askID names a question in the agent's own window: by the request it was, else
// by the session and a number.
func (s *Session) askID(a *Ask) string {
	if a.Request != "" {
		return a.Request
	}
	return s.ID + "." + strconv.Itoa(a.N)
}

func (a *Ask) inWords() string {
	if a.What != "" {
		return a.What
	}
	return a.Tool
}
