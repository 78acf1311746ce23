package state

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
)

// Sessions holds all sessions and their states. It is safe for concurrent use.
type Sessions struct {
	mu sync.RWMutex
	sessionTable
	waiting map[string]Key // the session of each request in the inbox
}

// NewSessions has no sessions yet.
func NewSessions() *Sessions {
	table := sessionTable{sessions: map[Key]*Session{}, index: newSessionIndex()}
	return &Sessions{sessionTable: table, waiting: map[string]Key{}}
}

// Load adds stored sessions, replacing what is known under their keys. alive reports whether
// a session's process still runs; if a turn was open and it isn't known to live, the session
// becomes [Unsure] (the agent may have continued while no daemon ran), or ended if the
// process is known to be gone. alive may be nil.
func (b *Sessions) Load(stored []*Session, now time.Time, alive func(*Session) Liveness) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range stored {
		if s == nil || s.Agent == "" || s.ID == "" {
			continue
		}
		if strings.HasPrefix(s.ID, requestPrefix) {
			continue // the request went with the daemon
		}
		if s.Unprompted {
			continue // it's looked for again
		}
		next := s.copySession()
		next.Requests = nil
		if next.Machine.Base == "" {
			next.Machine.Base, next.Machine.BaseSince = next.Status, next.Since
		}
		life := Unknown
		if alive != nil {
			life = alive(s)
		}
		if next.Live() && life == Gone {
			next.endSession(now, "the process is gone", true)
		} else if next.Live() && life == Unknown && (next.Turn.Open() || next.Waits()) {
			next.markUnsure(now)
		}
		next.deriveStatus()
		b.putSession(b.sessions[next.Key], next)
	}
}

// Liveness holds what is known about a session's process.
type Liveness int

// What can be known about a process.
const (
	Unknown Liveness = iota
	Alive
	Gone
)

// Get returns a session by its key.
func (b *Sessions) Get(key Key) (*Session, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	s, ok := b.sessions[key]
	return s, ok
}

// Overview returns the overview of a session.
func (b *Sessions) Overview(key Key) (Overview, bool) {
	s, ok := b.Get(key)
	if !ok {
		return Overview{}, false
	}
	return overviewFor(s), true
}

// Overviews returns the overview of every session, in no order.
func (b *Sessions) Overviews() []Overview {
	b.mu.RLock()
	defer b.mu.RUnlock()
	out := make([]Overview, 0, len(b.sessions))
	for _, s := range b.sessions {
		out = append(out, overviewFor(s))
	}
	return out
}

// Len returns how many sessions there are.
func (b *Sessions) Len() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.sessions)
}

// Snapshot returns the current state of every session, the one that started first first.
// The values may be kept and read without locks.
func (b *Sessions) Snapshot() []*Session {
	b.mu.RLock()
	out := b.selectSessions(func(*Session) bool { return true })
	b.mu.RUnlock()
	slices.SortFunc(out, func(x, y *Session) int {
		return cmp.Or(x.StartedAt.Compare(y.StartedAt), cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.ID, y.ID))
	})
	return out
}

// Waiting returns the sessions with something that waits for you, the longest wait first;
// of those that have ended, what is still in the inbox.
func (b *Sessions) Waiting() []*Session {
	b.mu.RLock()
	out := b.selectSessions(func(s *Session) bool { return len(s.Requests) > 0 || s.Live() && len(s.Asks) > 0 })
	b.mu.RUnlock()
	slices.SortFunc(out, func(x, y *Session) int {
		return cmp.Or(x.WaitingSince.Compare(y.WaitingSince), cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.ID, y.ID))
	})
	return out
}

// ByProcess returns the sessions that run in a process.
func (b *Sessions) ByProcess(pid int, start uint64) []*Session {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var out []*Session
	for key := range b.index.processes[processID{pid, start}] {
		out = append(out, b.sessions[key])
	}
	slices.SortFunc(out, func(x, y *Session) int { return x.StartedAt.Compare(y.StartedAt) })
	return out
}

// updateSession runs f on a copy of a session and puts it back; what changed is in
// the result. Nothing happens when the session is not there.
func (b *Sessions) updateSession(key Key, f func(s *Session, c *Change)) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.sessions[key]
	if old == nil {
		return Change{Key: key}
	}
	next := old.copySession()
	c := Change{Key: key}
	f(next, &c)
	b.commitChange(old, next, &c)
	return c
}

// commitChange puts next in the place of old and fills in what changed.
func (b *Sessions) commitChange(old, next *Session, c *Change) {
	next.deriveStatus()
	c.Session = next
	if old == nil {
		c.From, c.Created = NeverRan, true
		c.Title = next.Title.Name() != ""
		c.Tool = next.Tool != ""
		c.Waiting = next.Waits()
	} else {
		c.From = old.Status
		c.Title = old.Title.Name() != next.Title.Name()
		c.Tool = old.Tool != next.Tool
		c.Waiting = !old.Waits() && next.Waits()
		c.Answered = old.Waits() && !next.Waits()
		c.Ended = old.Live() && !next.Live()
		c.Revived = !old.Live() && next.Live()
	}
	c.To = next.Status
	b.putSession(old, next)
}

// Forget removes a session.
func (b *Sessions) Forget(key Key) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.sessions[key]
	if !ok {
		return Change{Key: key}
	}
	b.dropSession(key)
	return Change{Key: key, From: s.Status, To: NeverRan, Gone: true}
}

// SetPlace records where a session runs, if that is learnt from elsewhere than its events (a
// pane that was looked for, a process that was found).
func (b *Sessions) SetPlace(key Key, at event.Place) Change {
	return b.updateSession(key, func(s *Session, _ *Change) { s.Place = at })
}
