package session

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
)

// shelf is where a book keeps its sessions: those in which something happens
// as they are, the others asleep, as text. A session is some twenty small
// objects that were made in the middle of passing garbage; a thousand of them
// would hold on to many times their own size of memory for hours. Sessions
// that fall asleep together share one piece of it.
type shelf struct {
	awake  map[Key]*Session
	asleep map[Key]nap
	held   int // bytes of text that are kept alive
	used   int // those that still count
}

// nap is a session that is asleep.
type nap struct {
	Glance
	text string // JSON; a window into what fell asleep together, like the key
}

// Glance is what is known of a session without waking it.
type Glance struct {
	Key       Key
	LastEvent time.Time
	Status    Status
	Live      bool
	Open      bool // a turn goes on
	Waits     bool // a person must decide something
	PID       int
	Start     uint64
	Shared    bool // its process serves others as well

	Transcript string

	linked bool // the book knows it by more than its key and process
}

// Quiet reports whether nothing goes on in it.
func (g *Glance) Quiet() bool { return !g.Live || !g.Open && !g.Waits }

func glanceAt(s *Session) Glance {
	return Glance{
		Key: s.Key, LastEvent: s.LastEvent, Status: s.Status, Live: s.Live(), Open: s.Turn.Open(), Waits: s.Waits(),
		PID: s.Place.PID, Start: s.Place.Start, Shared: s.Place.Shared, Transcript: s.Transcript, linked: s.Terminal != "" || len(s.Subagents) > 0,
	}
}

func newShelf() shelf { return shelf{awake: map[Key]*Session{}, asleep: map[Key]nap{}} }

func (f *shelf) len() int { return len(f.awake) + len(f.asleep) }

func (f *shelf) has(key Key) bool {
	if f.awake[key] != nil {
		return true
	}
	_, ok := f.asleep[key]
	return ok
}

// glance is what is known of a session without waking it.
func (f *shelf) glance(key Key) (Glance, bool) {
	if s := f.awake[key]; s != nil {
		return glanceAt(s), true
	}
	n, ok := f.asleep[key]
	return n.Glance, ok
}

// get is a session; nil when there is none. One that is asleep goes on
// sleeping: whoever changes it puts the change back.
func (f *shelf) get(key Key) *Session {
	if s := f.awake[key]; s != nil {
		return s
	}
	if n, ok := f.asleep[key]; ok {
		return n.session()
	}
	return nil
}

// session is the session again. It shares no memory with the text.
func (n *nap) session() *Session {
	s := &Session{}
	if err := json.Unmarshal([]byte(n.text), s); err != nil {
		// It was text made from a session a moment ago. Should that ever not
		// be readable, what was glanced is still true.
		s = &Session{
			Status: n.Status, Since: n.LastEvent, StartedAt: n.LastEvent, LastEvent: n.LastEvent,
			Place: event.Place{PID: n.PID, Start: n.Start, Shared: n.Shared}, Beneath: Beneath{Base: Unsure, BaseSince: n.LastEvent},
		}
	}
	s.Key = Key{strings.Clone(n.Key.Agent), strings.Clone(n.Key.ID)}
	return s
}

func (f *shelf) put(s *Session) {
	f.rouse(s.Key)
	f.awake[s.Key] = s
}

func (f *shelf) drop(key Key) {
	f.rouse(key)
	delete(f.awake, key)
}

// rouse takes the text of a session away.
func (f *shelf) rouse(key Key) {
	n, ok := f.asleep[key]
	if !ok {
		return
	}
	delete(f.asleep, key)
	f.used -= n.size()
	if f.held > minRepack && f.used < f.held/4*3 {
		f.repack()
	}
}

// minRepack is how much text is not worth being moved.
const minRepack = 256 << 10

func (n *nap) size() int { return len(n.Key.Agent) + len(n.Key.ID) + len(n.Transcript) + len(n.text) }

// look is a session to be read without the book's lock: values do not change,
// and texts neither.
type look struct {
	awake *Session
	nap   nap
}

func (l *look) session() *Session {
	if l.awake != nil {
		return l.awake
	}
	return l.nap.session()
}

// looks is every session that fits.
func (f *shelf) looks(fits func(*Glance) bool) []look {
	var out []look
	for _, s := range f.awake {
		if g := glanceAt(s); fits(&g) {
			out = append(out, look{awake: s})
		}
	}
	for _, n := range f.asleep {
		if fits(&n.Glance) {
			out = append(out, look{nap: n})
		}
	}
	return out
}

func sessionsOf(looks []look) []*Session {
	out := make([]*Session, len(looks))
	for i := range looks {
		out[i] = looks[i].session()
	}
	return out
}

// glances calls do for every session.
func (f *shelf) glances(do func(Glance)) {
	for _, s := range f.awake {
		do(glanceAt(s))
	}
	for _, n := range f.asleep {
		do(n.Glance)
	}
}

// silent is the sessions that are awake and were not heard of since before,
// without the latest keep of all.
func (f *shelf) silent(before time.Time, keep int) []*Session {
	if len(f.awake) <= keep {
		return nil
	}
	all := make([]*Session, 0, len(f.awake))
	for _, s := range f.awake {
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

// textOf is a session as it sleeps; false when it has bytes that JSON cannot
// hold.
func textOf(s *Session) (string, bool) {
	text, err := json.Marshal(s)
	if err != nil || bytes.Contains(text, []byte(`\ufffd`)) {
		return "", false
	}
	return string(text), true
}

// doze is a session that is about to sleep.
type doze struct {
	s    *Session
	text string
}

// sleep lays those down that nothing happened to meanwhile.
func (f *shelf) sleep(list []doze) int {
	naps := make([]nap, 0, len(list))
	for _, d := range list {
		if f.awake[d.s.Key] == d.s {
			naps = append(naps, nap{Glance: glanceAt(d.s), text: d.text})
			delete(f.awake, d.s.Key)
		}
	}
	f.lay(naps)
	return len(naps)
}

// shrink gives room back: a map that was large stays so.
func (f *shelf) shrink() {
	out := make(map[Key]*Session, len(f.awake))
	maps.Copy(out, f.awake)
	f.awake = out
}

// lay puts naps on the shelf, all of them in one piece of memory.
func (f *shelf) lay(naps []nap) {
	size := 0
	for i := range naps {
		size += naps[i].size()
	}
	var b strings.Builder
	b.Grow(size)
	for i := range naps {
		b.WriteString(naps[i].Key.Agent)
		b.WriteString(naps[i].Key.ID)
		b.WriteString(naps[i].Transcript)
		b.WriteString(naps[i].text)
	}
	all := b.String()
	next := func(s string) string {
		window := all[:len(s)]
		all = all[len(s):]
		return window
	}
	for _, n := range naps {
		n.Key.Agent, n.Key.ID, n.Transcript, n.text = next(n.Key.Agent), next(n.Key.ID), next(n.Transcript), next(n.text)
		n.Status = plain(n.Status)
		f.asleep[n.Key] = n
	}
	f.held += size
	f.used += size
}

// plain is the status as the program spells it, not a window into a log that
// was read.
func plain(s Status) Status {
	for _, known := range Statuses() {
		if s == known {
			return known
		}
	}
	return Status(strings.Clone(string(s)))
}

// repack lets go of text that does not count any more.
func (f *shelf) repack() {
	naps := make([]nap, 0, len(f.asleep))
	for _, n := range f.asleep {
		naps = append(naps, n)
	}
	f.asleep, f.held, f.used = make(map[Key]nap, len(naps)), 0, 0
	f.lay(naps)
}
