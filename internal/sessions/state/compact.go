package state

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
)

// compactStore keeps the sessions: those in which something happens
// as they are, the others compacted, as text. A session is some twenty small
// objects that were made in the middle of passing garbage; a thousand of them
// would hold on to many times their own size of memory for hours. Sessions
// that are compacted together share one piece of it.
//
// It stays because it pays: 500 idle sessions of 40 events each hold 2.4 to 4.6 MB
// as they are and 1.1 MB compacted, of 600 events 6.4 MB and 2.9 MB
// (BenchmarkIdleSessions); a hub after 200,000 events has 56 MB with it and 58 MB
// without (`make bench`).
type compactStore struct {
	active    map[Key]*Session
	compacted map[Key]compactSession
	keptBytes int // bytes of text that are kept alive
	usedBytes int // those that still count
}

// compactSession is a session as text.
type compactSession struct {
	Overview
	text string // JSON; a window into what was compacted together, like the key
}

// Overview is what is known of a session without reading its text.
type Overview struct {
	Key       Key
	LastEvent time.Time
	Status    Status
	Live      bool
	Open      bool // a turn goes on
	Waits     bool // a person must decide something
	PID       int
	Start     uint64
	Shared    bool // its process serves others as well, or is the terminal's

	Transcript string

	indexed bool // it is indexed by more than its key and process
	asked   bool // a person was asked something, here or in its window
}

// IsIdle reports whether nothing goes on in it.
func (g *Overview) IsIdle() bool { return !g.Live || !g.Open && !g.Waits }

func overviewFor(s *Session) Overview {
	at := processAt(s)
	return Overview{
		Key: s.Key, LastEvent: s.LastEvent, Status: s.Status, Live: s.Live(), Open: s.Turn.Open(), Waits: s.Waits(),
		PID: at.pid, Start: at.start, Shared: s.Place.Shared || s.Place.PID <= 0,
		Transcript: s.Transcript, indexed: s.Terminal != "" || len(s.Subagents) > 0,
		asked: len(s.Held) > 0 || s.Live() && len(s.Asks) > 0,
	}
}

func newCompactStore() compactStore {
	return compactStore{active: map[Key]*Session{}, compacted: map[Key]compactSession{}}
}

func (f *compactStore) sessionCount() int { return len(f.active) + len(f.compacted) }

func (f *compactStore) hasSession(key Key) bool {
	if f.active[key] != nil {
		return true
	}
	_, ok := f.compacted[key]
	return ok
}

// overviewOf is what is known of a session without reading its text.
func (f *compactStore) overviewOf(key Key) (Overview, bool) {
	if s := f.active[key]; s != nil {
		return overviewFor(s), true
	}
	n, ok := f.compacted[key]
	return n.Overview, ok
}

// getSession is a session; nil when there is none. A compacted one stays so:
// whoever changes it puts the change back.
func (f *compactStore) getSession(key Key) *Session {
	if s := f.active[key]; s != nil {
		return s
	}
	if n, ok := f.compacted[key]; ok {
		return n.readSession()
	}
	return nil
}

// readSession is the session again. It shares no memory with the text.
func (n *compactSession) readSession() *Session {
	s := &Session{}
	if err := json.Unmarshal([]byte(n.text), s); err != nil {
		// It was text made from a session a moment ago. Should that ever not
		// be readable, what was glanced is still true.
		s = &Session{
			Status: n.Status, Since: n.LastEvent, StartedAt: n.LastEvent, LastEvent: n.LastEvent,
			Place:   event.Place{PID: n.PID, Start: n.Start, Shared: n.Shared},
			Machine: MachineState{Base: Unsure, BaseSince: n.LastEvent},
		}
	}
	s.Key = Key{strings.Clone(n.Key.Agent), strings.Clone(n.Key.ID)}
	return s
}

func (f *compactStore) putActive(s *Session) {
	f.dropCompacted(s.Key)
	f.active[s.Key] = s
}

func (f *compactStore) removeSession(key Key) {
	f.dropCompacted(key)
	delete(f.active, key)
}

// dropCompacted takes the text of a session away.
func (f *compactStore) dropCompacted(key Key) {
	n, ok := f.compacted[key]
	if !ok {
		return
	}
	delete(f.compacted, key)
	f.usedBytes -= n.textSize()
	if f.keptBytes > minRepack && f.usedBytes < f.keptBytes/4*3 {
		f.repackText()
	}
}

// minRepack is how much text is not worth being moved.
const minRepack = 256 << 10

func (n *compactSession) textSize() int {
	return len(n.Key.Agent) + len(n.Key.ID) + len(n.Transcript) + len(n.text)
}

// sessionRef is a session to be read without the lock: values do not change,
// and texts neither.
type sessionRef struct {
	active  *Session
	compact compactSession
}

func (l *sessionRef) readSession() *Session {
	if l.active != nil {
		return l.active
	}
	return l.compact.readSession()
}

// selectSessions is every session that fits.
func (f *compactStore) selectSessions(fits func(*Overview) bool) []sessionRef {
	var out []sessionRef
	for _, s := range f.active {
		if g := overviewFor(s); fits(&g) {
			out = append(out, sessionRef{active: s})
		}
	}
	for _, n := range f.compacted {
		if fits(&n.Overview) {
			out = append(out, sessionRef{compact: n})
		}
	}
	return out
}

func sessionsOf(looks []sessionRef) []*Session {
	out := make([]*Session, len(looks))
	for i := range looks {
		out[i] = looks[i].readSession()
	}
	return out
}

// eachOverview calls do for every session.
func (f *compactStore) eachOverview(do func(Overview)) {
	for _, s := range f.active {
		do(overviewFor(s))
	}
	for _, n := range f.compacted {
		do(n.Overview)
	}
}

// inactiveSince is the active sessions that were not heard of since before,
// without the latest keep of all.
func (f *compactStore) inactiveSince(before time.Time, keep int) []*Session {
	if len(f.active) <= keep {
		return nil
	}
	all := make([]*Session, 0, len(f.active))
	for _, s := range f.active {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Session) int { return a.LastEvent.Compare(b.LastEvent) })
	all = all[:len(all)-keep]
	for i, s := range all {
		if !s.LastEvent.Before(before) {
			return all[:i]
		}
	}
	return all
}

// sessionText is a session as text; false when it has bytes that JSON cannot
// hold.
func sessionText(s *Session) (string, bool) {
	text, err := json.Marshal(s)
	if err != nil || bytes.Contains(text, []byte(`\ufffd`)) {
		return "", false
	}
	return string(text), true
}

// compactCandidate is a session that is about to be compacted.
type compactCandidate struct {
	s    *Session
	text string
}

// compactSessions compacts those that nothing happened to meanwhile.
func (f *compactStore) compactSessions(list []compactCandidate) int {
	done := make([]compactSession, 0, len(list))
	for _, d := range list {
		if f.active[d.s.Key] == d.s {
			done = append(done, compactSession{Overview: overviewFor(d.s), text: d.text})
			delete(f.active, d.s.Key)
		}
	}
	f.packTogether(done)
	return len(done)
}

// shrinkMap gives room back: a map that was large stays so.
func (f *compactStore) shrinkMap() {
	out := make(map[Key]*Session, len(f.active))
	maps.Copy(out, f.active)
	f.active = out
}

// packTogether keeps sessions as text, all of them in one piece of memory.
func (f *compactStore) packTogether(list []compactSession) {
	size := 0
	for i := range list {
		size += list[i].textSize()
	}
	var b strings.Builder
	b.Grow(size)
	for i := range list {
		b.WriteString(list[i].Key.Agent)
		b.WriteString(list[i].Key.ID)
		b.WriteString(list[i].Transcript)
		b.WriteString(list[i].text)
	}
	all := b.String()
	next := func(s string) string {
		window := all[:len(s)]
		all = all[len(s):]
		return window
	}
	for _, n := range list {
		n.Key.Agent, n.Key.ID, n.Transcript, n.text = next(n.Key.Agent), next(n.Key.ID), next(n.Transcript),
			next(n.text)
		n.Status = knownStatus(n.Status)
		f.compacted[n.Key] = n
	}
	f.keptBytes += size
	f.usedBytes += size
}

// knownStatus is the status as the program spells it, not a window into a log that
// was read.
func knownStatus(s Status) Status {
	for _, known := range Statuses() {
		if s == known {
			return known
		}
	}
	return Status(strings.Clone(string(s)))
}

// repackText lets go of text that does not count any more.
func (f *compactStore) repackText() {
	list := make([]compactSession, 0, len(f.compacted))
	for _, n := range f.compacted {
		list = append(list, n)
	}
	f.compacted, f.keptBytes, f.usedBytes = make(map[Key]compactSession, len(list)), 0, 0
	f.packTogether(list)
}
