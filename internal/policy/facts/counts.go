package facts

import (
	"hash/maphash"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// Limits of a Tracker.
const (
	maxSessions = 256
	maxCalls    = 256 // different calls of a turn
	maxOpen     = 64  // calls whose end was not heard of
)

// Tracker counts which calls an agent made in its current turn, how often, and which failed,
// for each session separately. Rules about going round in circles read it. It keeps a limited
// number of sessions and calls, as hashes without any text of a call; what is too old is
// forgotten, never guessed. It is safe for concurrent use.
type Tracker struct {
	mu       sync.Mutex
	seed     maphash.Seed
	sessions bounded.Map[sessionKey, *session]
}

type sessionKey struct{ agent, session string }

// session records what happened so far in a session's current turn.
type session struct {
	calls         bounded.Map[uint64, *call]
	open          bounded.Map[string, uint64] // by the agent's own number of a call
	total         int
	failuresInRow int
	// last and before are the last two calls, alternating how often they took turns.
	last, before uint64
	alternating  int
	lastEvent    string
}

// call is one call that was made in a turn, perhaps several times.
type call struct {
	count    int
	failures int // in a row
}

// New makes a tracker that knows nothing.
func New() *Tracker { return &Tracker{seed: maphash.MakeSeed()} }

// Observe counts an event.
func (t *Tracker) Observe(ev *event.Event) {
	if ev.Session == "" {
		return
	}
	var hash uint64
	switch ev.Kind {
	case event.SessionEnd, event.TurnStart, event.SessionStart:
	case event.ToolBefore, event.ToolAfter:
		if ev.Tool == nil {
			return
		}
		hash = t.hashCall(ev.Tool)
	default:
		return
	}
	key := sessionKey{ev.Agent, ev.Session}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch ev.Kind {
	case event.ToolBefore:
		t.sessionOf(key).begin(ev, hash)
	case event.ToolAfter:
		if s, ok := t.sessions.Get(key); ok {
			s.end(ev.Tool, hash)
		}
	default:
		t.sessions.Delete(key)
	}
}

func (t *Tracker) sessionOf(key sessionKey) *session {
	s, ok := t.sessions.Get(key)
	if !ok {
		s = new(session)
		t.sessions.Put(key, s, maxSessions)
	}
	return s
}

func (s *session) begin(ev *event.Event, hash uint64) {
	s.total++
	s.lastEvent = ev.ID
	if id := ev.Tool.CallID; id != "" {
		s.open.Put(id, hash, maxOpen)
	}
	c, ok := s.calls.Get(hash)
	if !ok {
		c = new(call)
		s.calls.Put(hash, c, maxCalls)
	}
	c.count++
	if hash == s.before && hash != s.last {
		s.alternating++
	} else {
		s.alternating = 0
	}
	s.before, s.last = s.last, hash
}

func (s *session) end(tool *event.Tool, hash uint64) {
	if known, ok := s.open.Get(tool.CallID); ok && tool.CallID != "" {
		hash = known
		s.open.Delete(tool.CallID)
	}
	c, ok := s.calls.Get(hash)
	if !tool.Failed {
		s.failuresInRow = 0
		if ok {
			c.failures = 0
		}
		return
	}
	s.failuresInRow++
	if ok {
		c.failures++
	}
}

// Of returns what is known about the session of an event, this call included. It is
// false for an event without a session or a call.
func (t *Tracker) Of(ev *event.Event) (Counts, bool) {
	if ev.Session == "" || ev.Tool == nil {
		return Counts{}, false
	}
	hash := t.hashCall(ev.Tool)
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.sessions.Get(sessionKey{ev.Agent, ev.Session})
	if !ok {
		return Counts{SameCall: 1, CallsThisTurn: 1}, true
	}
	out := Counts{CallsThisTurn: s.total, FailuresInRow: s.failuresInRow, Alternating: s.alternating}
	if c, ok := s.calls.Get(hash); ok {
		out.SameCall, out.SameFailure = c.count, c.failures
	}
	if ev.Kind == event.ToolBefore && s.lastEvent != ev.ID { // a query about what would happen
		out.CallsThisTurn++
		out.SameCall++
		if hash == s.before && hash != s.last {
			out.Alternating++
		}
	}
	return out, true
}

// hashCall identifies a call: the tool and what it is given. For a command only the command
// itself is hashed, not the agent's description of it.
func (t *Tracker) hashCall(tool *event.Tool) uint64 {
	hash := maphash.String(t.seed, tool.Name)
	add := func(kind uint64, texts ...string) {
		for _, text := range texts {
			hash = hash*hashFactor + kind
			hash = hash*hashFactor + maphash.String(t.seed, text)
		}
	}
	switch {
	case len(tool.Commands) > 0:
		add('c', tool.Commands...)
	case len(tool.Input) > 0:
		hash = hash*hashFactor + maphash.Bytes(t.seed, tool.Input)
	default:
		add('r', tool.Reads...)
		add('w', tool.Writes...)
		add('u', tool.URL)
	}
	return hash
}

// hashFactor is odd, so that the order of texts matters and none is lost.
const hashFactor = 0x9E3779B97F4A7C15
