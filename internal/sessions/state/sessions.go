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
	held map[string]Key // the session of each request that hookmux holds
}

// NewSessions has no sessions yet.
func NewSessions() *Sessions {
	table := sessionTable{store: newCompactStore(), index: newSessionIndex()}
	return &Sessions{sessionTable: table, held: map[string]Key{}}
}

// Load adds stored sessions, in place of what is known under
// their keys. alive tells whether a session's process still runs; where a
// turn was open and it is not known to live, the session becomes [Unsure]
// (the agent may have gone on while nobody listened), or ended when the
// process is known to be gone. alive may be nil.
func (b *Sessions) Load(stored []*Session, now time.Time, alive func(*Session) Liveness) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range stored {
		if s == nil || s.Agent == "" || s.ID == "" {
			continue
		}
		if strings.HasPrefix(s.ID, requestPrefix) {
			continue // the request went with the hub that held it
		}
		next := s.copySession()
		next.Held = nil
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
		b.putSession(b.store.getSession(next.Key), next)
	}
}

// Liveness is what is known about a session's process.
type Liveness int

// What can be known about a process.
const (
	Unknown Liveness = iota
	Alive
	Gone
)

// Get is a session by its key.
func (b *Sessions) Get(key Key) (*Session, bool) {
	b.mu.RLock()
	s := b.store.active[key]
	n, compacted := b.store.compacted[key]
	b.mu.RUnlock()
	if s == nil && compacted {
		s = n.readSession()
	}
	return s, s != nil
}

// Overview is what is known of a session without reading its text: much cheaper than
// [Sessions.Get] for one that was not heard of for a while.
func (b *Sessions) Overview(key Key) (Overview, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.store.overviewOf(key)
}

// Overviews is a glance at every session, in no order.
func (b *Sessions) Overviews() []Overview {
	b.mu.RLock()
	defer b.mu.RUnlock()
	out := make([]Overview, 0, b.store.sessionCount())
	b.store.eachOverview(func(g Overview) { out = append(out, g) })
	return out
}

// CompactIdle puts sessions that were not heard of since before into a form that
// takes little memory; the latest keep of them stay as they are. Nothing of
// it can be seen but in what [Sessions.Get] costs.
func (b *Sessions) CompactIdle(before time.Time, keep int) int {
	b.mu.RLock()
	silent := b.store.inactiveSince(before, keep)
	b.mu.RUnlock()
	compacted := 0
	for group := range slices.Chunk(silent, compactAtOnce) {
		list := make([]compactCandidate, 0, len(group))
		for _, s := range group {
			if text, ok := sessionText(s); ok {
				list = append(list, compactCandidate{s, text})
			}
		}
		b.mu.Lock()
		compacted += b.store.compactSessions(list)
		b.mu.Unlock()
	}
	if compacted > 0 {
		b.mu.Lock()
		b.store.shrinkMap()
		b.mu.Unlock()
	}
	return compacted
}

// ReleaseMemory gives back what compacted sessions held, and do not need any more.
// It is for quiet moments: everybody waits meanwhile.
func (b *Sessions) ReleaseMemory() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.store.usedBytes < b.store.keptBytes {
		b.store.repackText()
	}
}

// compactAtOnce is how many sessions are laid down while everybody waits; they
// share a piece of memory.
const compactAtOnce = 256

// ActiveCount is how many sessions [Sessions.Rest] may find something to do about.
func (b *Sessions) ActiveCount() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.store.active)
}

// Len is how many sessions there are.
func (b *Sessions) Len() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.store.sessionCount()
}

// Snapshot is every session as it stands, the one that started first first.
// The values may be kept and read without locks.
func (b *Sessions) Snapshot() []*Session {
	b.mu.RLock()
	looks := b.store.selectSessions(func(*Overview) bool { return true })
	b.mu.RUnlock()
	out := sessionsOf(looks)
	slices.SortFunc(out, func(x, y *Session) int {
		return cmp.Or(x.StartedAt.Compare(y.StartedAt), cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.ID, y.ID))
	})
	return out
}

// Waiting is the sessions with something that waits for a person, the one that has
// waited longest first; of those that have ended, what hookmux still holds.
func (b *Sessions) Waiting() []*Session {
	b.mu.RLock()
	looks := b.store.selectSessions(func(g *Overview) bool { return g.asked })
	b.mu.RUnlock()
	out := sessionsOf(looks)
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
		out = append(out, b.store.getSession(key))
	}
	slices.SortFunc(out, func(x, y *Session) int { return x.StartedAt.Compare(y.StartedAt) })
	return out
}

// updateSession runs f on a copy of a session and puts it back; what changed is in
// the result. Nothing happens when the session is not there.
func (b *Sessions) updateSession(key Key, f func(s *Session, c *Change)) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.store.getSession(key)
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
	g, ok := b.store.overviewOf(key)
	if !ok {
		return Change{Key: key}
	}
	b.dropSession(key)
	return Change{Key: key, From: g.Status, To: NeverRan, Gone: true}
}

// SetPlace tells where a session runs, when that is learnt from elsewhere than
// its events (a pane that was looked for, a process that was found).
func (b *Sessions) SetPlace(key Key, at event.Place) Change {
	return b.updateSession(key, func(s *Session, _ *Change) { s.Place = at })
}
