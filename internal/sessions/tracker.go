package hub

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/kvlog"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/resumeargs"
	"github.com/hookmux/hookmux/internal/sessions/resumestore"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// sessions is what the hub knows about every agent's session. The corridor
// gives it events (apply), which costs a moment in memory and nothing else;
// whatever needs a disk, a process table or tmux is done behind it, by one
// goroutine (keep) and the watches it starts.
type sessions struct {
	deps services.Deps
	ctx  context.Context // ends when the hub does
	hub  *Hub
	book *state.Book

	switches atomic.Pointer[switches]

	// news is what changed since the keeper looked.
	mu     sync.Mutex
	forgot map[state.Key]time.Time // when a person said so
	news   map[state.Key]*state.Change
	wake   chan struct{}
	asleep atomic.Bool
	over   chan struct{}
	done   chan struct{}

	log     *kvlog.Log // the keeper's; nil while it cannot be written
	dirty   map[state.Key]bool
	pruneAt int       // how many sessions make a look worthwhile
	restAt  int       // how many of them awake
	loaded  time.Time // up to when the log knew what happened
	records *resumestore.Store
	unread  bool // some records could not be read
	watches *watches
	tails   *tails
	panes   *panes
	windows *windows
	claims  claims
}

// switches are the settings that count here, read a few times a second at most
// and never by the corridor.
type switches struct {
	rules  map[string]state.Rules
	other  state.Rules // for agents the catalogue does not know
	resume map[string]bool
	follow bool
}

const (
	// gatherNews is how long changes come together before they are worked on.
	gatherNews = 5 * time.Millisecond
	// flushEvery is how long a change may wait to be written down: what is lost
	// meanwhile is read from the journal again.
	flushEvery = 250 * time.Millisecond
	// lookAtSettings is how often the switches are read again.
	lookAtSettings = 2 * time.Second
	// tickEvery is how often time itself is news: sessions leave, turns become
	// doubtful, panes were closed.
	tickEvery = time.Minute
)

func newSessions(h *Hub) *sessions {
	s := &sessions{
		deps: h.deps, ctx: h.ctx, hub: h, book: state.NewBook(), news: map[state.Key]*state.Change{}, forgot: map[state.Key]time.Time{}, dirty: map[state.Key]bool{},
		wake: make(chan struct{}, 1), over: make(chan struct{}), done: make(chan struct{}),
	}
	s.watches = newWatches(s)
	s.tails = newTails(s)
	s.panes = newPanes(s)
	s.windows = newWindows(s)
	s.readSwitches()
	var err error
	s.records, err = resumestore.Open(filepath.Join(h.deps.Dirs.State, "resume"))
	s.unread = err != nil
	if err != nil {
		h.deps.Problems.Raise("resume", "some sessions cannot be taken up again: "+err.Error(), "")
	}
	s.load()
	s.unfollow(nil, s.switches.Load())
	return s
}

// readSwitches looks at the settings. What was switched off is forgotten.
func (s *sessions) readSwitches() {
	settings := s.hub.rules.config.Settings()
	now := &switches{rules: map[string]state.Rules{}, resume: map[string]bool{}, follow: settings.Choice(config.TmuxFollow) == "on"}
	now.other.Off = settings.Choice(config.Status) == "off"
	for _, a := range s.deps.Catalogue.Agents() {
		on := settings.On(config.Status, a.Name)
		now.rules[a.Name] = state.Rules{Spec: &a.Status, Off: !on}
		now.resume[a.Name] = on && settings.On(config.Resume, a.Name)
	}
	s.unfollow(s.switches.Swap(now), now)
	if s.records != nil {
		s.records.Purge(func(r resumestore.Record) bool { return now.resume[r.Agent] })
	}
}

// unfollow: of agents whose status was switched off nobody knows any more what
// they do.
func (s *sessions) unfollow(before, now *switches) {
	for name, rules := range now.rules {
		if !rules.Off || before != nil && before.rules[name].Off {
			continue
		}
		for _, c := range s.book.Unfollow(name, time.Now()) {
			s.note(c)
		}
	}
}

func (s *sessions) rulesOf(agent string) state.Rules {
	now := s.switches.Load()
	if r, ok := now.rules[agent]; ok {
		return r
	}
	return now.other
}

// apply takes an event in. It is part of the corridor: it waits for nothing.
func (s *sessions) apply(ev *event.Event, seq uint64) {
	if ev.Malformed != "" || ev.Native == wire.ProbeEvent {
		return
	}
	report, err := terminalReport(ev)
	switch {
	case err != nil: // a line that nobody can read says nothing
	case report != nil:
		s.note(s.book.ApplyTerminal(report, ev.Where, s.rulesOf(ev.Agent)))
	default:
		s.note(s.book.ApplyNumbered(ev, seq, s.rulesOf(ev.Agent)))
	}
}

// decided tells the book what came of an event.
func (s *sessions) decided(ev *event.Event, d event.Decision) {
	if ev.Malformed != "" || d.Verdict == event.None && !d.KeepGoing {
		return
	}
	if c := s.book.Decided(ev, d, time.Now(), s.rulesOf(ev.Agent)); c.Session != nil {
		s.note(c)
	}
}

// held tells the book that a call waits for a person, or waits no more.
func (s *sessions) held(ev *event.Event, waits bool) {
	tell := s.book.WaitsNoMore
	if waits {
		tell = s.book.WaitsForPerson
	}
	if c := tell(ev, time.Now(), s.rulesOf(ev.Agent)); c.Session != nil {
		s.note(c)
	}
}

// late takes in an event that reached the hub through a file: one that came
// while there was no hub, or that an earlier hub acknowledged. What the session
// already knows is not told twice.
func (s *sessions) late(ev *event.Event) {
	if old, ok := s.book.Get(state.Key{Agent: ev.Agent, ID: ev.Session}); ok && !ev.Time.After(old.LastEvent) {
		return
	}
	s.mu.Lock()
	forgot := s.forgot[state.Key{Agent: ev.Agent, ID: ev.Session}]
	s.mu.Unlock()
	if time.Since(ev.Time) > state.LeaveAfter || !ev.Time.After(forgot) {
		return
	}
	s.apply(ev, 0)
}

// note leaves a change to the keeper.
func (s *sessions) note(c state.Change) {
	if !c.Any() {
		return
	}
	s.mu.Lock()
	if old := s.news[c.Key]; old != nil {
		join(old, &c)
	} else {
		first := c // only this one need outlive the call
		s.news[c.Key] = &first
	}
	s.mu.Unlock()
	if s.asleep.Load() {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// join makes one change of two.
func join(into, next *state.Change) {
	into.Session, into.Gone, into.To = next.Session, next.Gone, next.To
	into.Created = into.Created || next.Created
	into.Title = into.Title || next.Title
	into.Tool = into.Tool || next.Tool
	into.Waiting = into.Waiting || next.Waiting
	into.Answered = into.Answered || next.Answered
	into.TurnStarted = into.TurnStarted || next.TurnStarted
	into.TurnEnded = into.TurnEnded || next.TurnEnded
	if next.Turn != nil {
		into.Turn = next.Turn
	}
	into.Ended = into.Ended || next.Ended
	into.Revived = into.Revived || next.Revived
	into.Subagent = into.Subagent && next.Subagent
}

func (s *sessions) take() []*state.Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.news) == 0 {
		return nil
	}
	list := make([]*state.Change, 0, len(s.news))
	for _, c := range s.news {
		list = append(list, c)
	}
	s.news = map[state.Key]*state.Change{}
	return list
}

// keep works on what changed until the hub ends.
func (s *sessions) keep() {
	defer close(s.done)
	ctx := s.ctx
	surfaces := s.startSurfaces(ctx)
	defer surfaces.end()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	look := time.NewTicker(lookAtSettings)
	defer look.Stop()
	var flush <-chan time.Time
	for _, one := range s.book.Snapshot() { // what was loaded is watched as well
		s.watches.see(one)
		s.windows.see(one)
		s.tails.see(one, false)
	}
	for {
		s.asleep.Store(true)
		if !s.waiting() {
			select {
			case <-s.wake:
			case <-s.tails.ready():
				s.tails.look(ctx)
			case <-flush:
				flush = nil
				s.flush()
			case <-look.C:
				s.repair()
				s.readSwitches()
				s.rest()
				surfaces.set(s.switches.Load().follow)
			case now := <-tick.C:
				s.tick(ctx, now)
				surfaces.all()
			case <-s.over:
			}
		}
		s.asleep.Store(false)
		over := pause(gatherNews, s.over)
		if s.work(s.take(), surfaces) && flush == nil {
			flush = time.After(flushEvery)
		}
		if over {
			s.flush()
			if s.log != nil {
				s.log.Close()
			}
			return
		}
	}
}

func (s *sessions) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.news) > 0
}

// work does with changes what takes time, and says whether there was any.
func (s *sessions) work(changes []*state.Change, surfaces *surfaces) bool {
	for _, c := range changes {
		s.dirty[c.Key] = true
		now := c.Session
		if now == nil || c.Gone {
			s.tails.drop(c.Key)
			s.windows.drop(c.Key)
		} else {
			s.watches.see(now)
			s.windows.see(now)
			s.tails.see(now, c.TurnStarted || c.TurnEnded || c.Created)
			s.panes.check(now)
			if c.TurnStarted && !c.Subagent {
				s.remember(now)
			}
		}
		if watched := s.deps.Notes.Watched(); watched || surfaces.on() {
			said := s.changeOf(c)
			if watched {
				s.deps.Notes.Publish(wire.NoteSession, said)
			}
			surfaces.tell(said)
		}
	}
	if len(changes) > 0 && s.book.Len() > s.pruneAt {
		s.prune()
	}
	if len(changes) > 0 && s.book.ActiveCount() > s.restAt {
		s.rest()
	}
	return len(changes) > 0
}

const (
	// keepAwake is how many sessions are always held ready.
	keepAwake = 64
	// awakeFor is how long any session is: events of one come close together.
	awakeFor = time.Second
)

// rest lets sessions that are silent take little memory.
func (s *sessions) rest() {
	s.book.CompactIdle(time.Now().Add(-awakeFor), keepAwake)
	s.restAt = s.book.ActiveCount() + 2*keepAwake
}

// keepQuiet is how many sessions are kept in which nothing goes on and whose
// process nobody can see. Nobody reads a longer list, and programs that open a
// session for every call would fill the memory within their hour.
const keepQuiet = 500

// prune lets those go that were not heard of for longest.
func (s *sessions) prune() {
	var quiet []state.Overview
	for _, one := range s.book.Overviews() {
		if one.Quiet() && !(one.Live && s.watches.watched(&one)) {
			quiet = append(quiet, one)
		}
	}
	if drop := len(quiet) - keepQuiet; drop > 0 {
		slices.SortFunc(quiet, func(a, b state.Overview) int { return a.LastEvent.Compare(b.LastEvent) })
		for _, one := range quiet[:drop] {
			s.note(s.book.Forget(one.Key))
		}
	}
	s.pruneAt = s.book.Len() + keepQuiet/4
}

// tick lets time pass.
func (s *sessions) tick(ctx context.Context, now time.Time) {
	for _, c := range s.book.Tick(now, s.alive) {
		s.note(c)
	}
	s.panes.sweep(ctx)
	_ = resumeargs.Sweep(s.deps.Dirs.Runtime, func(pid int, start uint64) bool {
		return lifeOf(s.deps.Processes, processKey{pid, start}) != state.Gone
	}) // else the next tick does
}

// end stops the keeper and lets it write down what it knows.
func (s *sessions) end() {
	close(s.over)
	<-s.done
	s.watches.end()
	s.panes.end()
	s.windows.end()
}

// forget takes a session out, for good.
func (s *sessions) forget(key state.Key) {
	s.mu.Lock()
	s.forgot[key] = time.Now()
	s.mu.Unlock()
	s.records.Forget(key.Agent, key.ID)
	s.claims.drop(key)
	s.note(s.book.Forget(key))
}
