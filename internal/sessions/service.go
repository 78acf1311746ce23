// Package sessions implements the service that knows what every agent's session does.
// Hook calls give it events, which costs a moment in memory and nothing else.
// Whatever needs a disk, the process table or tmux is done by one goroutine (Run) and the
// watchers it starts.
//
// The state machine is in package state; what follows transcripts, processes, panes and
// answers gives it more to know than events contain.
package sessions

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/launch/resumeargs"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/store"
	"github.com/hookmux/hookmux/internal/sessions/transcript"
	"github.com/hookmux/hookmux/internal/wire"
)

// Options configures the service in addition to what every service gets.
type Options struct {
	Settings SettingsSource
	Sender   Sender
	// Usage returns what a session used, nil if it isn't known. It may be nil.
	Usage func(agent, session string) *wire.SessionUsage
	// SessionGone is called for a session whose process ended without a report.
	SessionGone func(agent, session string)
	// PromptsChanged is called with a session's requests at the agent's own prompt, whenever
	// they may have changed.
	PromptsChanged func(agent, session string, items []wire.InboxRequest)
	// TurnEnded is called for a session whose turn ended. It may be nil.
	TurnEnded func(wire.Session)
	// Changed is called some time after sessions changed. It must not wait, and may be nil.
	Changed func()
	// HooksMissing is called for a session that continues without its hooks, and once more
	// when that is over. It may be nil.
	HooksMissing func(Gap)
	// Elsewhere is the sessions on other machines; nil: there are none.
	Elsewhere Elsewhere
	// TerminalReport reads a report about a terminal out of an event that came as
	// one; nil for other events.
	TerminalReport func(*event.Event) (*state.TerminalReport, error)
}

// Sender brings a text into a session through the plugin of its agent.
type Sender interface {
	// Send reports whether a plugin took the text; false without an error when
	// none listens.
	Send(agent, session, text string) (delivered bool, err error)
}

// Service knows the sessions. New makes it ready, Run works until Stop.
type Service struct {
	ctx         context.Context // ends when the daemon does
	deps        services.Deps
	settings    SettingsSource
	sender      Sender
	sessionGone func(agent, session string)
	tellPrompts func(agent, session string, items []wire.InboxRequest)
	turnEnded   func(wire.Session)
	changed     func()

	hooksMissing func(Gap)
	elsewhere    Elsewhere // nil: there are no other machines
	silence      silenceWatch
	lifted       liftWatch

	tracker     *tracker
	store       *sessionStore
	resumer     *resumer
	view        *view
	processes   *processWatcher
	transcripts *transcriptFollower
	panes       *paneFinder
	opened      *openFinder
	daemons     *daemonClients
	answers     *answerWatcher
	display     *tmuxDisplay
	terminals   *terminalDisplay
	pressing    sync.Mutex // keys in agents' terminals, one answer at a time

	pruneAt int // how many sessions make pruning worthwhile
	stop    chan struct{}
	stopped chan struct{}
}

const (
	// gatherChanges is how long changes come together before they are worked on.
	gatherChanges = 5 * time.Millisecond
	// settingsPeriod is how often the settings are read again.
	settingsPeriod = 2 * time.Second
	// tickPeriod is how often time itself changes something: sessions leave, turns
	// become doubtful, panes were closed.
	tickPeriod = time.Minute
)

// New makes the service and reads what an earlier daemon knew.
func New(ctx context.Context, deps services.Deps, o Options) *Service {
	t := newTracker(o.TerminalReport)
	t.setSwitches(readSwitches(deps, o.Settings.Settings()))
	records, err := store.Open(filepath.Join(deps.Dirs.State, "resume"))
	if err != nil {
		deps.Problems.Raise("resume", "some sessions cannot be resumed: "+err.Error(), "")
	}
	panes := newPaneFinder(ctx, deps, t, records)
	s := &Service{
		ctx: ctx, deps: deps, settings: o.Settings, sender: o.Sender, sessionGone: o.SessionGone,
		tellPrompts: o.PromptsChanged, turnEnded: o.TurnEnded, changed: o.Changed, hooksMissing: o.HooksMissing, elsewhere: o.Elsewhere,
		tracker: t, panes: panes, opened: newOpenFinder(deps, t, panes), daemons: newDaemonClients(ctx, deps, t), store: newSessionStore(deps, t),
		transcripts: newTranscriptFollower(deps, t), answers: newAnswerWatcher(ctx, deps, t),
		resumer: &resumer{deps: deps, settings: o.Settings, tracker: t, panes: panes, records: records,
			unread: err != nil},
		lifted: liftWatch{deps: deps},
		stop:   make(chan struct{}), stopped: make(chan struct{}),
	}
	s.processes = newProcessWatcher(ctx, deps, s.processEnded)
	s.view = &view{deps: deps, tracker: t, resumer: s.resumer, usage: o.Usage}
	s.display = newTmuxDisplay(ctx, deps, s.view)
	s.terminals = newTerminalDisplay(ctx, deps, t)
	s.store.loadSessions()
	t.unfollowAgents(nil, t.switches.Load())
	return s
}

// ReadSettings reads the settings again. What was switched off is forgotten.
func (s *Service) ReadSettings() {
	s.tracker.setSwitches(readSwitches(s.deps, s.settings.Settings()))
	s.resumer.dropSwitchedOff()
}

// Apply applies an event. seq is its sender's number of it, 0 where the sender
// does not number. It waits for nothing.
func (s *Service) Apply(ev *event.Event, seq uint64) {
	s.tracker.applyEvent(ev, seq)
	s.lifted.happened(ev)
}

// Deciding records that an event is being decided, until the function it returns is
// called. Until then, what the event asks isn't listed as the agent's own prompt:
// hookmux may make a request of it that you answer here.
func (s *Service) Deciding(ev *event.Event) (decided func()) { return s.tracker.deciding(ev) }

// ApplyDecision applies what was answered to an event that was applied before.
func (s *Service) ApplyDecision(ev *event.Event, d event.Decision) {
	s.tracker.applyDecision(ev, d)
	s.lifted.decided(ev, &d)
}

// RequestOpened records that a request about an event waits for you.
func (s *Service) RequestOpened(id string, ev *event.Event, at time.Time) {
	s.tracker.requestOpened(id, ev, at)
}

// RequestEnded records that a request no longer waits. settled says that the question is
// settled: you decided, or the agent is gone.
func (s *Service) RequestEnded(id string, settled bool) { s.tracker.requestEnded(id, settled) }

// Waiting returns everything that waits for you, the oldest first: requests in the inbox
// (status pending, the id of the request) and at agents' own prompts (status prompt). If a
// session ended while the inbox still had a request of it, the status is withdrawn.
func (s *Service) Waiting() []wire.InboxRequest { return s.view.waitingItems() }

// Locate returns where a process runs, as far as it and its environment show. claimed is
// what the caller says itself.
func (s *Service) Locate(who Process, claimed event.Place, environ []byte) event.Place {
	return s.panes.locateProcess(who, claimed, environ)
}

// List returns every session, in the order of what you want to see first; all adds those
// that can be resumed.
func (s *Service) List(all bool) []wire.Session { return s.view.listSessions(all) }

// History gives the events since a time, oldest first.
type History func(ctx context.Context, since time.Time) iter.Seq2[*event.Event, error]

// CatchUp applies what the journal knows and the session log does not: events of
// the last moments before a daemon died.
func (s *Service) CatchUp(ctx context.Context, history History) {
	for ev, err := range history(ctx, s.store.missingSince()) {
		if err != nil {
			s.deps.Log.Warn("the journal could not be read for sessions", "error", err)
			return
		}
		if ev.Agent != wire.OwnAgent {
			s.ApplyLate(ev)
		}
	}
}

// Run works on what changed until Stop.
func (s *Service) Run() {
	defer close(s.stopped)
	s.display.setFollowing(s.tracker.switches.Load().tmux())
	defer s.display.stopFollowing()
	s.terminals.setMode(s.tracker.switches.Load().terminals)
	defer s.terminals.setMode("off")
	tick := time.NewTicker(tickPeriod)
	defer tick.Stop()
	settings := time.NewTicker(settingsPeriod)
	defer settings.Stop()
	silence := time.NewTicker(silencePeriod)
	defer silence.Stop()
	open := time.NewTicker(openPeriod)
	defer open.Stop()
	var write <-chan time.Time
	for _, one := range s.tracker.sessions.Snapshot() { // loaded sessions are watched as well
		s.processes.watchSession(one)
		s.answers.watchSession(one)
		s.transcripts.followSession(one, false)
		s.daemons.checkClient(one)
	}
	for {
		s.tracker.idle.Store(true)
		if !s.tracker.hasChanges() {
			select {
			case <-s.tracker.wake:
			case <-s.transcripts.readDue():
				s.transcripts.readRound(s.ctx)
			case <-write:
				write = nil
				s.store.writeDirty()
			case <-settings.C:
				s.resumer.retryRead()
				s.store.retryOpen()
				s.ReadSettings()
				s.endWithoutTerminals()
				s.display.setFollowing(s.tracker.switches.Load().tmux())
				s.terminals.setMode(s.tracker.switches.Load().terminals)
			case <-open.C:
				if s.deps.Notes.Watched() || s.display.isFollowing() {
					s.opened.find(s.ctx)
				}
			case now := <-silence.C:
				s.watchSilence(now)
			case now := <-tick.C:
				s.passTime(now)
				s.display.showAll()
				s.terminals.showAll()
			case <-s.stop:
			}
		}
		s.tracker.idle.Store(false)
		stopping := services.Pause(gatherChanges, s.stop)
		if s.workOn(s.tracker.takeChanges()) && write == nil {
			write = time.After(writePeriod)
		}
		if stopping {
			s.store.closeLog()
			return
		}
	}
}

// Stop ends Run, which writes what it knows, and waits for all watchers, until ctx ends:
// a disk or a program may not answer. The service's own context must have ended. It is
// false when something was left behind.
func (s *Service) Stop(ctx context.Context) bool {
	close(s.stop)
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-s.stopped
		s.processes.waitStopped()
		s.panes.waitStopped()
		s.daemons.waitStopped()
		s.answers.waitStopped()
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// workOn does with changes what takes time, and says whether there were any.
func (s *Service) workOn(changes []*state.Change) bool {
	for _, c := range changes {
		s.store.markDirty(c.Key)
		now := c.Session
		if now == nil || c.Gone {
			s.transcripts.stopFollowing(c.Key)
			s.answers.stopWatching(c.Key)
		} else {
			s.processes.watchSession(now)
			s.answers.watchSession(now)
			s.transcripts.followSession(now, c.TurnStarted || c.TurnEnded || c.Created)
			s.panes.checkPane(now)
			s.daemons.checkClient(now)
			if c.TurnStarted && !c.Subagent {
				s.resumer.recordSession(now)
			}
		}
		if s.tellPrompts != nil {
			s.tellPrompts(c.Key.Agent, c.Key.ID, s.view.promptItems(now))
		}
		if s.turnEnded != nil && c.TurnEnded && !c.Subagent && now != nil {
			s.turnEnded(s.view.sessionInfo(now))
		}
		s.terminals.show(c.Key, now)
		if watched := s.deps.Notes.Watched(); watched || s.display.isFollowing() {
			change := s.view.changeInfo(c)
			if watched {
				s.deps.Notes.Publish(wire.NoteSession, change)
			}
			s.display.showChange(change)
		}
	}
	if len(changes) > 0 && s.changed != nil {
		s.changed()
	}
	if len(changes) > 0 && s.tracker.sessions.Len() > s.pruneAt {
		s.pruneSessions()
	}
	return len(changes) > 0
}

const (
	// keepQuiet is how many sessions are kept that do nothing and whose process can't be seen.
	// A longer list is of no use, and programs that open a session for every call would fill
	// the memory within an hour.
	keepQuiet = 500
	// keepAll is how many are kept whatever goes on in them: a program that never says
	// that a turn or a call ended leaves sessions that never become quiet.
	keepAll = 2000
)

// pruneSessions forgets sessions that are too many.
func (s *Service) pruneSessions() {
	for _, key := range chooseForgotten(s.tracker.sessions.Overviews(), s.processes.isWatched) {
		s.tracker.noteChange(s.tracker.sessions.Forget(key))
	}
	s.pruneAt = s.tracker.sessions.Len() + keepQuiet/4
}

// chooseForgotten returns the sessions to forget: quiet ones beyond keepQuiet, then any
// beyond keepAll, those first whose process can't be seen, the oldest first. A session with
// a request in the inbox is never forgotten; the queue of requests is bounded itself.
func chooseForgotten(all []state.Overview, isWatched func(*state.Overview) bool) []state.Key {
	var quiet, unseen, seen []state.Overview
	for _, one := range all {
		watched := one.Live && isWatched(&one)
		switch {
		case one.InInbox:
		case one.IsIdle() && !watched:
			quiet = append(quiet, one)
		case watched:
			seen = append(seen, one)
		default:
			unseen = append(unseen, one)
		}
	}
	for _, list := range [][]state.Overview{quiet, unseen, seen} {
		slices.SortFunc(list, func(a, b state.Overview) int { return a.LastEvent.Compare(b.LastEvent) })
	}
	drop := max(0, len(quiet)-keepQuiet)
	candidates := slices.Concat(quiet[drop:], unseen, seen)
	more := min(max(0, len(all)-drop-keepAll), len(candidates))
	var keys []state.Key
	for _, one := range slices.Concat(quiet[:drop], candidates[:more]) {
		keys = append(keys, one.Key)
	}
	return keys
}

// passTime does what is due because time passed.
func (s *Service) passTime(now time.Time) {
	life := func(one *state.Session) state.Liveness { return sessionLife(s.deps.Processes, one) }
	for _, c := range s.tracker.sessions.Tick(now, life) {
		s.tracker.noteChange(c)
	}
	s.resumer.dropOld(now)
	_ = resumeargs.Sweep(s.deps.Dirs.OpenRuntime(), func(pid int, start uint64) bool {
		return processLife(s.deps.Processes, processKey{pid, start}) != state.Gone
	}) // what it could not do is tried again at the next tick
}

// processEnded records that a process ended: what ran in it is over.
func (s *Service) processEnded(key processKey) {
	for _, c := range s.tracker.sessions.ProcessGone(key.pid, key.start, time.Now()) {
		s.tracker.noteChange(c)
		s.sessionGone(c.Key.Agent, c.Key.ID)
	}
	s.panes.forgetProcess(key)
}

// endWithoutTerminals ends sessions whose terminal was closed, where the agent's process
// outlives it: some take no notice of the hangup.
func (s *Service) endWithoutTerminals() {
	for _, one := range s.tracker.sessions.Snapshot() {
		at := &one.Place
		if !one.Live() || at.Shared || at.PID <= 0 || at.TTY == "" {
			continue
		}
		p, err := s.deps.Processes.Lookup(at.PID)
		if err != nil || p.Start != at.Start || p.TTY != "" {
			continue
		}
		if c := s.tracker.sessions.TerminalGone(one.Key, time.Now()); c.Session != nil || c.Gone {
			s.tracker.noteChange(c)
			s.sessionGone(c.Key.Agent, c.Key.ID)
		}
	}
}

// forgetSession takes a session out for good.
func (s *Service) forgetSession(key state.Key) {
	s.resumer.records.Forget(key.Agent, key.ID)
	s.resumer.claims.dropClaim(key)
	s.tracker.forgetSession(key)
}

// ReviewerOf returns who decides about a permission request in its agent. The payload
// doesn't say it, the session's record does, and the record is ahead of the event: so a
// bounded part of its end is read now. If it names no reviewer, the one known for the
// session is returned. variables are the hook's environment.
func (s *Service) ReviewerOf(ev *event.Event, variables []byte) event.Reviewer {
	if ev.Kind != event.PermissionRequest || ev.Malformed != "" {
		return event.ReviewerUnknown
	}
	rules := s.tracker.rulesOf(ev)
	if rules.Spec == nil || !transcript.NamesReviewer(&rules.Spec.Transcript) {
		return event.ReviewerUnknown
	}
	env := transcript.Env{Home: s.deps.Dirs.Home, Getenv: s.lookupBoth(ev, variables)}
	reviewer, err := transcript.NewestReviewer(&rules.Spec.Transcript, ev.Session, ev.Transcript, env)
	if reviewer != event.ReviewerUnknown {
		return reviewer
	}
	if err != nil {
		s.deps.Log.Debug("who decides could not be read", "session", ev.Session, "error", err)
	}
	if known, ok := s.tracker.sessions.Get(state.Key{Agent: ev.Agent, ID: ev.Session}); ok {
		return known.Reviewer
	}
	return event.ReviewerUnknown
}

// lookupBoth looks variables up that say where an agent's store is: in the
// hook's environment, else in that of the agent's process.
func (s *Service) lookupBoth(ev *event.Event, variables []byte) func(string) string {
	ofHook := proc.LookupEnv(variables)
	return func(name string) string {
		if value := ofHook(name); value != "" || ev.Where.PID <= 0 {
			return value
		}
		list, _ := s.deps.Processes.Environ(ev.Where.PID)
		return paths.GetenvFrom(list)(name)
	}
}

// ApplyLate applies an event that reached the daemon through a file: one that came
// while no daemon ran, or that an earlier daemon acknowledged.
func (s *Service) ApplyLate(ev *event.Event) {
	if reviewer := s.ReviewerOf(ev, nil); reviewer != ev.Reviewer && ev.Reviewer == event.ReviewerUnknown {
		known := *ev
		known.Reviewer, ev = reviewer, &known
	}
	s.tracker.applyLate(ev)
}
