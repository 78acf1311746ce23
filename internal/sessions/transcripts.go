package sessions

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/transcript"
	"github.com/hookmux/hookmux/internal/sessions/window"
)

// transcriptFollower reads what agents write about their sessions while they're active: that
// you pressed Esc, how a command ended, what the session is called. Only the service's
// goroutine uses it.
//
// Transcripts are polled, a bounded number at a time: a watch on every store would cost more
// than reading the few of running turns, and not every file system has watches.
type transcriptFollower struct {
	deps    services.Deps
	tracker *tracker
	all     map[state.Key]*followed
	queue   []*followed // in the order they are read
	timer   *time.Timer
	armed   bool
}

// followed is one transcript.
type followed struct {
	key         state.Key
	reader      *transcript.Reader
	warned      bool                       // it was logged that it must not be read
	tried       time.Time                  // when opening it was last tried
	pause       time.Duration              // how long it is left alone after that
	until       time.Time                  // read until then though no turn is open
	calls       map[string]transcript.Fact // nil while there are none
	delayedEnd  *delayedEnd
	lastMessage string       // the agent's
	stopped     []state.Call // calls written down as refused that may have been running
}

// delayedEnd is the end of a turn that a hook should report as well. The hook knows
// more, so it gets a moment to be first.
type delayedEnd struct {
	fact transcript.Fact
	seen time.Time
}

const (
	readPeriod = 250 * time.Millisecond
	// maxReads bounds the transcripts of one round.
	maxReads = 64
	// maxOpenPause is how long, at most, a transcript that could not be opened is left
	// alone: agents make it with the first prompt, so the first tries follow quickly.
	maxOpenPause = 5 * time.Second
	// followAfter is how long a transcript is read after its turn is over: the
	// title and the last message come late.
	followAfter = 10 * time.Second
	hookFirst   = time.Second
	// idleSettles is how long an agent must say that no turn goes on before it is
	// believed: the hook that reports a turn's end knows more.
	idleSettles = 1500 * time.Millisecond
	maxCalls    = 64
)

func newTranscriptFollower(deps services.Deps, t *tracker) *transcriptFollower {
	f := &transcriptFollower{deps: deps, tracker: t, all: map[state.Key]*followed{}, timer: time.NewTimer(time.Hour)}
	f.timer.Stop()
	return f
}

// readDue fires when it is time to read.
func (f *transcriptFollower) readDue() <-chan time.Time { return f.timer.C }

// followSession follows a session's transcript while there is something to learn
// from it. moved says that a turn began or ended, or the session is new.
func (f *transcriptFollower) followSession(one *state.Session, moved bool) {
	rules := f.tracker.rulesFor(one.Agent)
	if rules.Spec == nil || rules.Spec.Transcript.Format == "" {
		return
	}
	known := f.all[one.Key]
	if known == nil {
		if !moved && !one.Turn.Open() {
			return
		}
		known = &followed{key: one.Key}
		f.all[one.Key] = known
		f.queue = append(f.queue, known)
	}
	if moved || one.Turn.Open() {
		known.until = time.Now().Add(followAfter)
	}
	f.armTimer()
}

func (f *transcriptFollower) armTimer() {
	if !f.armed && len(f.queue) > 0 {
		f.armed = true
		f.timer.Reset(readPeriod)
	}
}

// stopFollowing forgets a session; its place in the queue goes with the next
// round.
func (f *transcriptFollower) stopFollowing(key state.Key) { delete(f.all, key) }

// readRound reads what was added to the next few transcripts.
func (f *transcriptFollower) readRound(ctx context.Context) {
	f.armed = false
	now := time.Now()
	// Those that are over leave at once, however many there are: only reading
	// costs time.
	for round, reads := len(f.queue), 0; round > 0 && reads < maxReads; round-- {
		one := f.queue[0]
		f.queue[0], f.queue = nil, f.queue[1:]
		current, ok := f.tracker.sessions.Overview(one.key)
		if !ok || f.all[one.key] != one || now.After(one.until) && !current.Open {
			if f.all[one.key] == one {
				delete(f.all, one.key)
			}
			continue
		}
		f.queue = append(f.queue, one)
		reads++
		if ctx.Err() == nil {
			f.readTranscript(one, current, now)
		}
	}
	f.armTimer()
}

// openTranscript opens a transcript unless that failed a moment ago.
func (f *transcriptFollower) openTranscript(one *followed, current *state.Overview, rules state.Rules, now time.Time) {
	if now.Sub(one.tried) < one.pause {
		return
	}
	one.tried, one.pause = now, min(max(2*one.pause, readPeriod), maxOpenPause)
	env := transcript.Env{Home: f.deps.Dirs.Home, Getenv: f.environOf(current)}
	reader, err := transcript.Open(&rules.Spec.Transcript, one.key.ID, current.Transcript, env)
	if err != nil {
		if errors.Is(err, transcript.ErrOutside) && !one.warned {
			one.warned = true
			f.deps.Log.Warn("a transcript is not read", "session", one.key.String(), "error", err)
		}
		return
	}
	one.reader = reader
}

// readTranscript reads what was added to one transcript.
func (f *transcriptFollower) readTranscript(one *followed, current state.Overview, now time.Time) {
	rules := f.tracker.rulesFor(one.key.Agent)
	if current.Open && !rules.Off {
		f.readStateFile(one.key, &current, now)
	}
	if one.reader == nil {
		if f.openTranscript(one, &current, rules, now); one.reader == nil {
			return
		}
	}
	// One of its files may not be there yet. The facts of the others are used only once.
	facts, _ := one.reader.Read()
	sessions := f.tracker.sessions
	if len(facts) > 0 {
		session, ok := sessions.Get(one.key)
		if !ok {
			return
		}
		for _, fact := range facts {
			f.applyFact(one, session, rules, fact, now)
		}
	}
	if one.delayedEnd != nil && now.Sub(one.delayedEnd.seen) >= hookFirst {
		fact := one.delayedEnd.fact
		one.delayedEnd = nil
		result := state.Result("")
		if fact.Failed {
			result = state.APIError
		}
		f.noteUnlessStale(sessions.TurnFinished(one.key, fact.Turn, result, one.lastMessage, factTime(fact, now)))
	}
	if one.lastMessage == "" {
		return
	}
	session, ok := sessions.Get(one.key)
	if ok && session.Turn != nil && !session.Turn.Open() && session.Turn.Summary == "" {
		f.noteUnlessStale(sessions.SetSummary(one.key, one.lastMessage))
	}
}

// readStateFile ends a turn that the agent itself says is over: Claude Code takes a
// prompt back that is stopped before anything came of it, and reports that nowhere
// else.
func (f *transcriptFollower) readStateFile(key state.Key, current *state.Overview, now time.Time) {
	a, ok := f.deps.Catalogue.Agent(key.Agent)
	if !ok || a.Inbox == nil || a.Inbox.State == nil || current.Shared || current.Waits {
		return
	}
	idle, ok := window.IdleSince(a.Inbox.State, current.Transcript, key.ID, current.PID)
	if !ok || now.Sub(idle) < idleSettles {
		return
	}
	session, ok := f.tracker.sessions.Get(key)
	// It may not have written yet that it is at work.
	if !ok || !session.Turn.Open() || session.Background > 0 || !idle.After(session.Turn.Started) ||
		now.Sub(session.LastEvent) < idleSettles {
		return
	}
	f.noteUnlessStale(f.tracker.sessions.Interrupted(key, idle))
}

// factTime returns when a fact was written, or now where the transcript has no times.
func factTime(fact transcript.Fact, now time.Time) time.Time {
	if fact.At.IsZero() {
		return now
	}
	return fact.At
}

func (f *transcriptFollower) noteUnlessStale(c state.Change) {
	if c.Stale == state.No {
		f.tracker.noteChange(c)
	}
}

func (f *transcriptFollower) noteTitle(c state.Change) {
	if c.Title {
		f.tracker.noteChange(c)
	}
}

// applyFact gives one fact to the state machine.
func (f *transcriptFollower) applyFact(one *followed, session *state.Session, rules state.Rules, fact transcript.Fact,
	now time.Time) {
	// What stood there before anybody read it is news only with a time that
	// says so.
	old := fact.Early || fact.First && fact.At.IsZero()
	sessions := f.tracker.sessions
	if fact.Kind != transcript.Interrupted && fact.Kind != transcript.CallEnded {
		one.stopped = nil
	}
	switch fact.Kind {
	case transcript.Title:
		f.noteTitle(sessions.TitleSeen(one.key, fact.Source, fact.Text, rules))
	case transcript.Prompt:
		one.lastMessage = ""
		f.noteTitle(sessions.TitleSeen(one.key, agent.TitlePrompt, state.PromptTitle(fact.Text), rules))
	case transcript.Message:
		if !fact.Early {
			one.lastMessage = fact.Text
		}
	case transcript.TurnStarted:
		one.delayedEnd, one.lastMessage = nil, ""
	case transcript.Interrupted:
		if !old && !rules.Off {
			one.delayedEnd = nil
			f.clearRefusals(one, fact)
			f.noteUnlessStale(sessions.Interrupted(one.key, factTime(fact, now)))
		}
	case transcript.TurnEnded:
		if !old && !rules.Off {
			one.delayedEnd = &delayedEnd{fact, now}
		}
	case transcript.CallBegan:
		if one.calls == nil || len(one.calls) > maxCalls {
			one.calls = map[string]transcript.Fact{}
		}
		one.calls[fact.Call] = fact
	case transcript.CallEnded:
		if !old && !rules.Off {
			f.applyCallEnd(one, session, fact, now)
		}
	case transcript.Reviews:
		// Another row may say something else between the beginning and the end.
		if !fact.Early && session.Reviewer != fact.Reviewer {
			f.tracker.noteChange(sessions.ReviewerSeen(one.key, fact.Reviewer))
		}
	case transcript.Decided:
		if !old && !rules.Off {
			f.resolveQuestion(one.key, fact, now)
		}
	}
}

func (f *transcriptFollower) applyCallEnd(one *followed, session *state.Session, fact transcript.Fact, now time.Time) {
	tool := callTool(fact, one.calls[fact.Call])
	if f.isQuestion(one.key.Agent, tool.Name) {
		tool.Kind = event.Question
	}
	if tool.Kind != event.Question && (fact.Denied || fact.Stopped && f.asksAbout(one.key, fact.Call)) {
		c := f.tracker.sessions.CallDenied(one.key, state.CallFor(tool), factTime(fact, now))
		f.noteUnlessStale(c)
		if c.Stale == state.No && fact.Stopped {
			one.stopped = append(one.stopped, state.CallFor(tool))
		}
	}
	if failure, failed := failureOf(fact, tool, session.Cwd, factTime(fact, now)); failed {
		f.noteUnlessStale(f.tracker.sessions.ToolFailed(one.key, state.CallFor(tool), failure))
	}
	if delete(one.calls, fact.Call); len(one.calls) == 0 {
		one.calls = nil
	}
	f.resolveQuestion(one.key, fact, now)
}

// resolveQuestion ends the waiting for a call that has a result or a decision.
func (f *transcriptFollower) resolveQuestion(key state.Key, fact transcript.Fact, now time.Time) {
	if f.asksAbout(key, fact.Call) {
		f.noteUnlessStale(f.tracker.sessions.Answered(key, fact.Call, factTime(fact, now)))
	}
}

// asksAbout reports whether you're being asked about a call.
func (f *transcriptFollower) asksAbout(key state.Key, call string) bool {
	session, ok := f.tracker.sessions.Get(key)
	return ok && call != "" && slices.ContainsFunc(session.Asks, func(a state.Ask) bool { return a.Call == call })
}

// isQuestion reports whether an agent puts questions to its person with a tool. One
// that got no answer was not refused.
func (f *transcriptFollower) isQuestion(name, tool string) bool {
	a, ok := f.deps.Catalogue.Agent(name)
	if !ok {
		return false
	}
	spec := a.Tool(tool)
	return spec != nil && spec.Kind == event.Question
}

// clearRefusals takes back what was written down as refused before an interruption
// that stopped a running call.
func (f *transcriptFollower) clearRefusals(one *followed, fact transcript.Fact) {
	for _, call := range one.stopped {
		if fact.Stopped {
			f.noteUnlessStale(f.tracker.sessions.CallStopped(one.key, call))
		}
	}
	one.stopped = nil
}

// environOf looks up variables of a session's process, for the place of its
// store. Nothing of it is kept.
func (f *transcriptFollower) environOf(one *state.Overview) func(string) string {
	var environ []string
	key := processKey{one.PID, one.Start}
	if key.pid > 0 && !one.Shared && processLife(f.deps.Processes, key) == state.Alive {
		environ, _ = f.deps.Processes.Environ(key.pid)
	}
	return paths.GetenvFrom(environ)
}
