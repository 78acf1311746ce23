package usage

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/policy/budget"
)

// ledger has what budgets and lists of sessions ask for, in memory. Its zero value
// knows nothing. It is safe for concurrent use.
type ledger struct {
	mu     sync.Mutex
	now    func() time.Time
	prices func() *Prices
	day    string
	today  map[place]budget.Spend
	// roots are the names that a budget's project had, by what the budget calls it: first
	// that, then where links led. An agent can move a project, and leave a link.
	roots    map[string][]string
	sessions map[sessionKey]*SessionUse
	windows  map[windowKey]Window
	known    bool
	// waitUntil is how long the first calls after the start wait for what is on record.
	waitUntil time.Time
	ready     chan struct{} // closed when known; nil: never waited for
	// looking is the time since when records have been looked at; zero while they aren't. behind says
	// that large ones are still being read.
	looking time.Time
	looked  time.Time // when the last look began that is over
	behind  bool
	failing string // why records can't be counted right now; "" if they can
	// doubts are why more may have been used, by session, and when that was seen.
	doubts bounded.Map[sessionKey, doubt]
	// silent are the calls of sessions since they last used something.
	silent bounded.Map[sessionKey, silence]
}

type doubt struct {
	project, why string
	at           time.Time
}

// silence is how many calls a session made since something it used was on record, and in
// its turn.
type silence struct {
	since time.Time
	calls int
	turn  struct {
		calls int
		used  bool // something of it is on record
		last  time.Time
	}
}

// maxDoubts bounds both.
const maxDoubts = 4096

// A session that made so many calls, over so long, while nothing it used was recorded doesn't write
// its records where they're read, or no longer does. The agents are those that write down every
// model call as it ends.
const (
	silentCalls = 40
	silentFor   = time.Minute
)

var prompt = []string{"claude", "codex", "pi", "omp", "qwen"}

// NoteEvent implements [budget.Spent].
func (l *ledger) NoteEvent(ev *event.Event) {
	if ev.Session == "" || !slices.Contains(prompt, ev.Agent) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := sessionKey{ev.Agent, ev.Session}
	one, _ := l.silent.Get(key)
	switch ev.Kind {
	case event.TurnStart:
		// No call without an answer of the model's, and no answer without a record.
		if t := &one.turn; t.calls > 0 && !t.used && l.known && !l.behind && l.looked.After(t.last.Add(turnSettles)) {
			l.doubts.Put(key, doubt{ev.Cwd, "a turn of " + ev.Agent + " made calls, and nothing of what it used is in its records", l.now()}, maxDoubts)
		}
		one.turn.calls, one.turn.used = 0, false
	case event.ToolBefore:
		if one.calls == 0 {
			one.since = l.now()
		}
		one.calls++
		one.turn.calls++
		one.turn.last = l.now()
	default:
		return
	}
	l.silent.Put(key, one, maxDoubts)
}

// turnSettles is how long before a look a turn's last call must be for the turn's records
// to be certain to be there.
const turnSettles = 2 * time.Second

// noteRewritten is called when records of a session were changed, which its agent doesn't do.
func (l *ledger) noteRewritten(r rewrite) {
	l.mu.Lock()
	defer l.mu.Unlock()
	why := cmp.Or(r.Why, "records of "+r.Agent+" were changed or removed after they had been written")
	l.doubts.Put(sessionKey{r.Agent, r.Session}, doubt{r.Project, why, r.At}, maxDoubts)
}

// doubtAbout returns why a session may have used more. The caller holds mu.
func (l *ledger) doubtAbout(key sessionKey) string {
	if l.failing != "" {
		return l.failing
	}
	if one, ok := l.doubts.Get(key); ok {
		return one.why
	}
	if one, ok := l.doubts.Get(sessionKey{key.agent, everySession}); ok && l.now().Sub(one.at) < 2*idleLook {
		return one.why
	}
	if use := l.sessions[key]; l.known && key.agent != "" && !keepsRecords(key.agent) && (use == nil || use.Tokens == 0) {
		return "hookmux can't count what " + key.agent + " uses: it keeps no record of it here"
	}
	if one, ok := l.silent.Get(key); ok && l.known && one.calls >= silentCalls && l.now().Sub(one.since) >= silentFor {
		return key.agent + " makes calls, and nothing of what they use is in its records"
	}
	return ""
}

// place is where something was used. real is where links in the project's name led then: they
// may lead elsewhere by now.
type place struct{ agent, project, real string }

type sessionKey struct{ agent, session string }

type windowKey struct {
	agent  string
	length time.Duration
}

// SessionUse is how much a session used.
type SessionUse struct {
	budget.Spend
	// Context is how many tokens the last call had, Window how many fit; 0 if unknown.
	Context, Window int64
	at              time.Time
}

// keepSessions is how long a session's sum stays in memory after its last call.
const keepSessions = 30 * 24 * time.Hour

func newLedger(now func() time.Time, prices func() *Prices) *ledger {
	return &ledger{
		now: now, prices: prices, day: dayOf(now()), today: map[place]budget.Spend{},
		sessions: map[sessionKey]*SessionUse{},
		windows:  map[windowKey]Window{},
	}
}

// load reads everything from the store.
func (l *ledger) load(ctx context.Context, s *Store) error {
	fresh := newLedger(l.now, l.prices)
	if err := s.Each(ctx, l.now().Add(-keepSessions), func(c *Call) { fresh.note(nil, c) }); err != nil {
		return err
	}
	windows, err := s.Windows(ctx)
	if err != nil {
		return err
	}
	for _, w := range windows {
		fresh.noteWindow(w)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.day, l.today, l.sessions = fresh.day, fresh.today, fresh.sessions
	for key, w := range fresh.windows {
		l.windows[key] = w
	}
	return nil
}

// spendOf returns what a call used; nil is no call.
func (l *ledger) spendOf(c *Call) (s budget.Spend) {
	if c == nil {
		return s
	}
	s.Tokens = c.Tokens.Total()
	if cost, ok := l.prices().Cost(c); ok {
		s.Dollars = cost
	} else {
		s.Unpriced = s.Tokens
	}
	return s
}

// note is called for a call that got larger.
func (l *ledger) note(was, is *Call) {
	before, more := l.spendOf(was), l.spendOf(is)
	more.Dollars -= before.Dollars
	more.Tokens -= before.Tokens
	more.Unpriced -= before.Unpriced
	real := ""
	if dayOf(is.At) == dayOf(l.now()) {
		real = budget.Resolve(is.Project)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turnDay()
	if dayOf(is.At) == l.day {
		key := place{is.Agent, is.Project, real}
		sum := l.today[key]
		sum.Add(more)
		l.today[key] = sum
	}
	if is.Session == "" {
		return
	}
	key := sessionKey{is.Agent, is.Session}
	if one, ok := l.silent.Get(key); ok {
		one.calls, one.turn.used = 0, true
		l.silent.Put(key, one, maxDoubts)
	}
	use := l.sessions[key]
	if use == nil {
		use = new(SessionUse)
		l.sessions[key] = use
	}
	use.Spend.Add(more)
	if !is.Sum && !is.Replay && !is.At.Before(use.at) {
		use.at, use.Context = is.At, is.Tokens.Total()
		if use.Window = is.Window; use.Window == 0 {
			if price, ok := l.prices().Find(is.Model); ok {
				use.Window = price.Window
			}
		}
	}
}

// turnDay begins a new day if the last one is over. The caller holds mu.
func (l *ledger) turnDay() {
	if day := dayOf(l.now()); day != l.day {
		l.day = day
		clear(l.today)
	}
}

// noteWindow is called with how much of a plan is used. Until a window begins again it only
// grows: an agent can't make it smaller, nor have it begin again earlier, nor later than a window
// of that length can.
func (l *ledger) noteWindow(w Window) Window {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := windowKey{w.Agent, w.Length}
	if last := l.now().Add(w.Length); w.Resets.After(last) {
		w.Resets = last
	}
	if have, ok := l.windows[key]; ok {
		if l.now().Before(have.Resets) {
			w.Used = max(w.Used, have.Used)
			if w.Resets.Before(have.Resets) {
				w.Resets = have.Resets
			}
		} else if w.Learned.Before(have.Learned) {
			return have
		}
	}
	l.windows[key] = w
	return w
}

// Windows returns the windows of plans that are known right now.
func (l *ledger) Windows() []Window {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Window
	for _, w := range l.windows {
		if l.isCurrent(w) {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b Window) int {
		if a.Agent != b.Agent {
			if a.Agent < b.Agent {
				return -1
			}
			return 1
		}
		return int(a.Length - b.Length)
	})
	return list
}

// isCurrent reports whether what is known of a window is still about it: what was
// used of the next one is unknown.
func (l *ledger) isCurrent(w Window) bool {
	now := l.now()
	if w.Resets.IsZero() {
		return now.Sub(w.Learned) < w.Length
	}
	return now.Before(w.Resets)
}

// Today implements [budget.Spent].
func (l *ledger) Today(agent, project string) (sum budget.Spend) {
	really := project
	if project != "" {
		really = budget.Real(project)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turnDay()
	below := l.belowProject(project, really)
	sum.Doubt = l.failing
	for at, one := range l.today {
		switch {
		case agent != "" && at.agent != agent:
		case below(at.project) || below(at.real):
			sum.Add(one)
		case at.project == "":
			sum.Doubt = cmp.Or(sum.Doubt, "nothing says in which folder "+at.agent+" used a part of it")
		}
	}
	for key, one := range l.doubts.All() {
		if dayOf(one.at) == l.day && (agent == "" || key.agent == agent) && (key.session == everySession || below(one.project)) {
			sum.Doubt = cmp.Or(sum.Doubt, one.why)
		}
	}
	return sum
}

// maxRoots bounds the names of a project that are remembered.
const maxRoots = 16

// belowProject reports whether folders are in a project, "" is every one. really is where
// links lead now. The caller holds mu.
func (l *ledger) belowProject(project, really string) func(dir string) bool {
	if project == "" {
		return func(string) bool { return true }
	}
	roots := l.roots[project]
	if roots == nil {
		roots = []string{project}
	}
	if !slices.Contains(roots, really) {
		if roots = append(roots, really); len(roots) > maxRoots {
			roots = slices.Delete(roots, 1, 2)
		}
	}
	if l.roots == nil {
		l.roots = map[string][]string{}
	}
	l.roots[project] = roots
	return func(dir string) bool {
		return slices.ContainsFunc(roots, func(root string) bool { return budget.Below(dir, root) })
	}
}

// InSession implements [budget.Spent].
func (l *ledger) InSession(agent, session string) budget.Spend {
	return l.Session(agent, session).Spend
}

// Session returns what a session used.
func (l *ledger) Session(agent, session string) SessionUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := sessionKey{agent, session}
	var is SessionUse
	if use := l.sessions[key]; use != nil {
		is = *use
	}
	is.Doubt = l.doubtAbout(key)
	return is
}

// OfWindow implements [budget.Spent].
func (l *ledger) OfWindow(agent string, length time.Duration) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, ok := l.windows[windowKey{agent, length}]
	return w.Used, ok && l.isCurrent(w)
}

// Known implements [budget.Spent].
func (l *ledger) Known(ctx context.Context) bool {
	l.mu.Lock()
	known := l.known
	if l.failing != "" || known && l.behind {
		l.mu.Unlock()
		return false
	}
	if known && !l.looking.IsZero() && l.now().Sub(l.looking) > slowLook {
		l.mu.Unlock()
		return false // something large may have been put in its way
	}
	if !known && l.ready == nil {
		l.ready = make(chan struct{})
	}
	ready, left := l.ready, l.waitUntil.Sub(l.now())
	l.mu.Unlock()
	if known || left <= 0 {
		return known
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ready:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// slowLook is how long a look at the records takes at most, in which what it hasn't
// reached yet may be missing.
const slowLook = 10 * time.Second

// setLooking notes that a look at the records begins or ends.
func (l *ledger) setLooking(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if on {
		l.looking = l.now()
	} else if !l.looking.IsZero() {
		l.looked, l.looking = l.looking, time.Time{}
	}
}

// setFailing notes why records can't be counted, as on a full disk: budgets ask then.
func (l *ledger) setFailing(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing = why
}

func (l *ledger) setKnown(behind bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.behind = behind; l.known {
		return
	}
	l.known = true
	if l.ready != nil {
		close(l.ready)
	}
}

// noteContext is called with how full the context of a session is.
func (l *ledger) noteContext(agent, session string, used, size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if use := l.sessions[sessionKey{agent, session}]; use != nil {
		use.Context, use.Window = used, size
	}
}
