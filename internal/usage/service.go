package usage

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Options configure the service.
type Options struct {
	Deps services.Deps
	// Getenv looks up variables that say where agents keep their records.
	Getenv func(string) string
	// Sessions are those that are known.
	Sessions func(all bool) []wire.Session
	// OwnPrices is your own table of prices as far as it's in force.
	OwnPrices func() ([]byte, error)
	// Changed is called for each model call that is new or got larger; may be nil.
	Changed func(was, is *Call)
	// Looked runs after each look at the records, once they were all read; may be nil.
	Looked func()
	// HasBudgets reports whether anything depends on what was used.
	HasBudgets func() bool
}

// Service reads the records of agents in the background, and answers what was used.
type Service struct {
	*ledger
	o       Options
	wake    chan chan struct{}
	poked   chan struct{}
	mu      sync.Mutex
	store   *Store
	prices  *Prices
	done    Progress
	reading bool
	problem string // why records aren't read right now
}

// How often records are looked at.
const (
	firstLook = 3 * time.Second       // after the start, if nothing depends on it and no agent reports
	liveLook  = time.Second           // while sessions are at work
	soonLook  = 50 * time.Millisecond // after the last, when agents report something
	idleLook  = time.Minute
	// workShare is how much longer than a look the pause after it is, maxRest how long a
	// live session's numbers wait for it at most. A look at everything has a pause of its own.
	workShare = 20
	maxRest   = 1500 * time.Millisecond
	// freshWithin is how long a question waits for the newest numbers.
	freshWithin = 2 * time.Second
	liveFor     = 2 * time.Minute // after a session's last event
)

// New returns the service. Nothing is opened before Run.
func New(o Options) *Service {
	s := &Service{o: o, wake: make(chan chan struct{}), poked: make(chan struct{}, 1)}
	s.ledger = newLedger(time.Now, s.Prices)
	s.waitUntil = time.Now().Add(freshWithin)
	return s
}

// Prices returns the table in force.
func (s *Service) Prices() *Prices {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prices == nil {
		return BuiltinPrices()
	}
	return s.prices
}

func (s *Service) loadPrices() {
	prices := BuiltinPrices()
	own, err := s.o.OwnPrices()
	if err == nil {
		prices, err = ReadPrices(own)
	}
	if err != nil {
		s.o.Deps.Problems.Set("usage-prices", "your table of prices, "+filepath.Join(s.o.Deps.Dirs.Config, PricesFile)+
			", isn't used: "+err.Error(), "correct the file, and restart the daemon")
	} else {
		s.o.Deps.Problems.Clear("usage-prices")
	}
	s.mu.Lock()
	s.prices = prices
	s.mu.Unlock()
}

// Run reads records until ctx ends.
func (s *Service) Run(ctx context.Context) {
	var waiting []chan struct{}
	if !s.o.HasBudgets() {
		waiting = s.await(ctx, firstLook, liveLook)
	}
	var scanner *Scanner
	var full fullLook
	for ctx.Err() == nil {
		var next time.Duration
		began := time.Now()
		scanner, next = s.look(ctx, scanner, &full, len(waiting) > 0)
		rest := min(workShare*time.Since(began), maxRest)
		for _, w := range waiting {
			close(w)
		}
		waiting = s.await(ctx, max(next, rest), max(soonLook, rest))
	}
	for _, w := range waiting {
		close(w)
	}
	s.mu.Lock()
	store := s.store
	s.store = nil
	s.mu.Unlock()
	if store != nil {
		store.Close()
	}
}

// fullLook is when everything was looked at, and when it is again; wide is when everything
// of the agents that are at work is.
type fullLook struct{ last, next, wide time.Time }

// await waits for the next look: after a while, soon when agents report something, at once when
// asked to.
func (s *Service) await(ctx context.Context, next, soon time.Duration) (waiting []chan struct{}) {
	timer, early := time.NewTimer(next), time.NewTimer(soon)
	defer timer.Stop()
	defer early.Stop()
	poked := (<-chan struct{})(nil)
	for {
		select {
		case <-early.C:
			poked = s.poked // not before: agents report many events a second
		case <-poked:
			return nil
		case <-timer.C:
			return nil
		case w := <-s.wake:
			return []chan struct{}{w}
		case <-ctx.Done():
			return nil
		}
	}
}

// Poke says that agents reported something: they may have used something, too.
func (s *Service) Poke() {
	select {
	case s.poked <- struct{}{}:
	default:
	}
}

// look reads what is new, and says when to look again.
func (s *Service) look(ctx context.Context, scanner *Scanner, full *fullLook, all bool) (*Scanner, time.Duration) {
	s.setLooking(true)
	defer s.setLooking(false)
	scanner, err := s.open(ctx, scanner)
	if err == nil {
		var next time.Duration
		next, err = s.scan(ctx, scanner, full, all)
		if err == nil {
			s.o.Deps.Problems.Clear("usage")
			s.setProblem("")
			s.setFailing("")
			if s.o.Looked != nil && !full.last.IsZero() {
				s.o.Looked()
			}
			return scanner, next
		}
	}
	if ctx.Err() == nil {
		s.setProblem(err.Error())
		why := "what agents use isn't counted right now: " + err.Error()
		s.setFailing(why)
		s.o.Deps.Problems.Set("usage", why,
			"make room, or repair "+filepath.Join(s.o.Deps.Dirs.OpenState(), Database)+"; it is tried again every minute")
		// What was added up and not written must not be added up again.
		if s.store != nil {
			_ = s.load(ctx, s.store) // tried again with the next look
		}
	}
	return nil, idleLook
}

// open opens the store and adds up what is in it.
func (s *Service) open(ctx context.Context, scanner *Scanner) (*Scanner, error) {
	if scanner != nil {
		return scanner, nil
	}
	if s.store == nil {
		s.loadPrices()
		store, err := OpenStore(filepath.Join(s.o.Deps.Dirs.OpenState(), Database), s.Prices)
		if err != nil {
			return nil, err
		}
		if err := s.load(ctx, store); err != nil {
			store.Close()
			return nil, err
		}
		s.mu.Lock()
		s.store = store
		s.mu.Unlock()
	}
	scanner, err := NewScanner(ctx, s.store, s.o.Deps.Dirs.Home, s.o.Getenv)
	if err != nil {
		return nil, err
	}
	scanner.changed = func(was, is *Call) {
		s.note(was, is)
		if s.o.Changed != nil {
			s.o.Changed(was, is)
		}
	}
	scanner.window = s.noteWindow
	scanner.rewritten = s.noteRewritten
	scanner.live = func() ([]string, map[string][]string) { return s.live(scanner.lookFor) }
	scanner.tellEarlier()
	scanner.progress = func(p Progress) {
		s.mu.Lock()
		s.done = p
		s.mu.Unlock()
	}
	return scanner, nil
}

// scan looks at the records of sessions that are at work, and now and then at all.
func (s *Service) scan(ctx context.Context, scanner *Scanner, full *fullLook, all bool) (time.Duration, error) {
	agents, places := s.live(scanner.lookFor)
	atWork := len(agents)+len(places) > 0
	began := time.Now()
	everything := all || !began.Before(full.next)
	wide := !everything && !began.Before(full.wide)
	if everything {
		agents = nil
		scanner.rest = 0
		if full.last.IsZero() && !all {
			scanner.rest = 1
		}
		s.setReading(full.last.IsZero())
	} else if wide { // what they start may have its records in another folder
		agents = slices.AppendSeq(agents, maps.Keys(places))
	}
	err := scanner.Scan(ctx, agents, places)
	if err == nil {
		now := time.Now()
		pause := workShare * now.Sub(began)
		if everything {
			full.last, full.next = now, now.Add(max(idleLook, pause))
		} else if wide {
			full.wide = now.Add(pause)
		}
		s.setReading(scanner.Unfinished())
		s.setKnown(scanner.Unfinished())
	}
	if atWork || scanner.Unfinished() {
		return liveLook, err
	}
	return idleLook, err
}

func (s *Service) setProblem(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem = what
}

func (s *Service) setReading(on bool) {
	s.mu.Lock()
	s.reading = on
	s.mu.Unlock()
}

// live returns the agents that are at work: the folders of their records if those are known,
// otherwise the agents. look is called for each record.
func (s *Service) live(look func(*wire.Session)) (agents []string, places map[string][]string) {
	agents, places = []string{}, map[string][]string{}
	for _, one := range s.o.Sessions(false) {
		if one.Ended != nil || one.Status != wire.StatusRunning && time.Since(one.LastEvent) > liveFor {
			continue
		}
		if dir := recordsBeside(one.Agent, one.Transcript); filepath.IsAbs(dir) && !budget.Below(s.o.Deps.Dirs.Home, dir) {
			look(&one)
			if !slices.Contains(places[one.Agent], dir) {
				places[one.Agent] = append(places[one.Agent], dir)
			}
		} else if !slices.Contains(agents, one.Agent) {
			agents = append(agents, one.Agent)
		}
	}
	return agents, places
}

// refresh has the records read now, and waits a moment for it.
func (s *Service) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, freshWithin)
	defer cancel()
	done := make(chan struct{})
	select {
	case s.wake <- done:
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// SessionUsage returns what a session used, as lists show it; nil if nothing is known.
func (s *Service) SessionUsage(agent, session string) *wire.SessionUsage {
	use := s.Session(agent, session)
	if use.Tokens == 0 {
		return nil
	}
	u := &wire.SessionUsage{Tokens: use.Tokens, UnpricedTokens: use.Unpriced}
	if use.Unpriced < use.Tokens {
		dollars := wire.RoundUSD(use.Dollars)
		u.CostUSD = &dollars
	}
	if use.Window > 0 && use.Context <= use.Window {
		left := 100 * (1 - float64(use.Context)/float64(use.Window))
		u.ContextLeft = &left
	}
	u.Plan = s.hasPlan(agent)
	return u
}

// hasPlan reports whether an agent says that a plan pays for it.
func (s *Service) hasPlan(agent string) bool {
	return slices.ContainsFunc(s.Windows(), func(w Window) bool { return w.Agent == agent })
}

// LongMethods returns what programs can ask.
func (s *Service) LongMethods() map[string]services.LongMethod {
	return map[string]services.LongMethod{wire.MethodUsage: s.reportMethod, wire.MethodUsageLimits: s.limitsMethod}
}

// Methods returns what programs can ask that needs no waiting.
func (s *Service) Methods() map[string]services.Method {
	return map[string]services.Method{wire.MethodUsageWindows: {Run: s.windowsMethod}}
}

func (s *Service) reportMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.UsageParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	for _, by := range p.By {
		if !slices.Contains(wire.UsageGroups(), by) {
			return nil, wire.Errorf(wire.CodeParams, "usage can't be divided by %q", by)
		}
	}
	s.refresh(ctx)
	s.mu.Lock()
	store, reading, done, problem := s.store, s.reading, s.done, s.problem
	s.mu.Unlock()
	if store == nil {
		return nil, wire.Errorf(wire.CodeInternal, "what agents used isn't known right now; `hookmux status` says why")
	}
	report, err := store.Report(ctx, p.By, p.Since)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	report.Problem = problem
	if reading {
		report.Reading = &wire.UsageReading{Files: done.Files, Of: done.Of, Bytes: done.Bytes}
	}
	return report, nil
}

// planned are the agents whose plans have windows that can be known.
var planned = []string{"claude", "codex"}

func (s *Service) limitsMethod(ctx context.Context, _ json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	s.refresh(ctx)
	limits := wire.UsageLimits{Windows: []wire.UsageWindow{}, Unknown: []string{}}
	for _, w := range s.Windows() {
		one := wire.UsageWindow{Agent: w.Agent, Window: w.Name, Used: w.Used, Plan: w.Plan, Learned: w.Learned}
		if !w.Resets.IsZero() {
			one.Resets = &w.Resets
		}
		limits.Windows = append(limits.Windows, one)
	}
	for _, agent := range planned {
		if !s.hasPlan(agent) {
			limits.Unknown = append(limits.Unknown, agent)
		}
	}
	return limits, nil
}

// windowsMethod accepts what an agent's status line reports.
func (s *Service) windowsMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.UsageWindowsParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	now := time.Now()
	for _, w := range p.Windows {
		length, err := budget.ParseWindow(w.Window)
		if err != nil || w.Used < 0 || w.Used > 1000 {
			return nil, wire.Errorf(wire.CodeParams, "%q with %v%% isn't a window of a plan", w.Window, w.Used)
		}
		one := Window{Agent: p.Agent, Name: w.Window, Length: length, Used: w.Used, Plan: w.Plan, Learned: now}
		if w.Resets != nil {
			one.Resets = *w.Resets
		}
		s.keepWindow(s.noteWindow(one))
	}
	if p.Size > 0 && p.Session != "" {
		s.noteContext(p.Agent, p.Session, p.Context, p.Size)
	}
	return map[string]bool{"ok": true}, nil
}

// keepWindow writes a window down for the next daemon. If that fails it is learned again with the next
// status line.
func (s *Service) keepWindow(w Window) {
	s.mu.Lock()
	store := s.store
	s.mu.Unlock()
	if store != nil {
		_ = store.saveWindow(&w)
	}
}
