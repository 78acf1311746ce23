package sessions

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// tracker gives events to the state machine and collects what changed, for the
// goroutine that works on changes. It waits for nothing: hook calls pass
// through it.
type tracker struct {
	sessions       *state.Sessions
	switches       atomic.Pointer[switches]
	terminalReport func(*event.Event) (*state.TerminalReport, error)

	mu        sync.Mutex
	forgotten map[state.Key]time.Time // when a person had a session forgotten
	changes   map[state.Key]*state.Change
	wake      chan struct{}
	idle      atomic.Bool     // nobody works on changes right now
	undecided map[string]bool // events that are being decided, by ID
}

func newTracker(terminalReport func(*event.Event) (*state.TerminalReport, error)) *tracker {
	return &tracker{
		sessions: state.NewSessions(), terminalReport: terminalReport,
		forgotten: map[state.Key]time.Time{}, changes: map[state.Key]*state.Change{}, wake: make(chan struct{}, 1),
		undecided: map[string]bool{},
	}
}

func (t *tracker) rulesFor(agent string) state.Rules { return t.switches.Load().rulesFor(agent) }

func (t *tracker) rulesOf(ev *event.Event) state.Rules { return t.switches.Load().rulesOf(ev) }

// setSwitches puts other switches into force. What agents do whose status was
// switched off is unknown from then on.
func (t *tracker) setSwitches(now *switches) {
	before := t.switches.Swap(now)
	t.unfollowAgents(before, now)
}

// unfollowAgents marks the sessions of agents whose status is off, and was not
// off before, as unknown.
func (t *tracker) unfollowAgents(before, now *switches) {
	for name, rules := range now.rules {
		if !rules.Off || before != nil && before.rules[name].Off {
			continue
		}
		for _, c := range t.sessions.Unfollow(name, time.Now()) {
			t.noteChange(c)
		}
	}
}

// applyEvent applies an event. seq is its sender's number of it, 0 where the
// sender does not number.
func (t *tracker) applyEvent(ev *event.Event, seq uint64) {
	if ev.Malformed != "" || ev.Native == wire.ProbeEvent {
		return
	}
	rules := t.rulesOf(ev)
	report, err := t.terminalReport(ev)
	switch {
	case err != nil: // a report that cannot be read says nothing
	case report != nil:
		c := t.sessions.ApplyTerminal(report, ev.Where, rules)
		t.noteChange(c)
		t.noteReported(c.Key)
	default:
		c := t.sessions.ApplyNumbered(ev, seq, rules)
		t.noteChange(c)
		t.noteReported(c.Key)
	}
}

// noteReported drops an agent that was only seen to be open, once its session is known.
func (t *tracker) noteReported(key state.Key) {
	for _, c := range t.sessions.Reported(key) {
		t.noteChange(c)
	}
}

// setPlace records where a session runs.
func (t *tracker) setPlace(key state.Key, at event.Place) {
	t.noteChange(t.sessions.SetPlace(key, at))
	t.noteReported(key)
}

// applyDecision applies what was answered to an event.
func (t *tracker) applyDecision(ev *event.Event, d event.Decision) {
	if ev.Malformed != "" || d.Verdict == event.None && !d.KeepGoing {
		return
	}
	if c := t.sessions.ApplyDecision(ev, d, time.Now(), t.rulesOf(ev)); c.Session != nil {
		t.noteChange(c)
	}
}

// deciding records that an event is being decided, until the function it returns is called.
func (t *tracker) deciding(ev *event.Event) (decided func()) {
	t.mu.Lock()
	t.undecided[ev.ID] = true
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		delete(t.undecided, ev.ID)
		t.mu.Unlock()
		if one := t.asking(ev); one != nil {
			t.noteChange(state.Change{Key: one.Key, Session: one, From: one.Status, To: one.Status})
		}
	}
}

// asking returns the session in which an event asked something that is still open.
func (t *tracker) asking(ev *event.Event) *state.Session {
	if ev.Session != "" {
		one, ok := t.sessions.Get(state.Key{Agent: ev.Agent, ID: ev.Session})
		if !ok || !one.AskedBy(ev.ID) {
			return nil
		}
		return one
	}
	for _, one := range t.sessions.Waiting() {
		if one.AskedBy(ev.ID) {
			return one
		}
	}
	return nil
}

func (t *tracker) isDeciding(id string) bool {
	if id == "" {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.undecided[id]
}

// requestOpened records that a request waits for you.
func (t *tracker) requestOpened(id string, ev *event.Event, at time.Time) {
	t.noteChange(t.sessions.RequestOpened(id, ev, at, t.rulesOf(ev)))
}

// requestEnded records that a request no longer waits.
func (t *tracker) requestEnded(id string, settled bool) {
	t.noteChange(t.sessions.RequestEnded(id, settled, time.Now()))
}

// applyLate applies an event that reached the daemon through a file: one that came
// while no daemon ran, or that an earlier daemon acknowledged. What the session
// already knows is not applied twice.
func (t *tracker) applyLate(ev *event.Event) {
	key := state.Key{Agent: ev.Agent, ID: ev.Session}
	if old, ok := t.sessions.Get(key); ok && !ev.Time.After(old.LastEvent) {
		return
	}
	if time.Since(ev.Time) > state.LeaveAfter || !ev.Time.After(t.forgottenAt(key)) {
		return
	}
	t.applyEvent(ev, 0)
}

func (t *tracker) forgottenAt(key state.Key) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forgotten[key]
}

// forgetSession takes a session out and remembers when, so that late events do
// not bring it back.
func (t *tracker) forgetSession(key state.Key) {
	t.setForgotten(key, time.Now())
	t.noteChange(t.sessions.Forget(key))
}

func (t *tracker) setForgotten(key state.Key, at time.Time) {
	t.mu.Lock()
	t.forgotten[key] = at
	t.mu.Unlock()
}

// forgottenKeys returns the sessions that you removed a short time ago and that didn't come
// back.
func (t *tracker) forgottenKeys() []state.Key {
	t.mu.Lock()
	defer t.mu.Unlock()
	var keys []state.Key
	for key, at := range t.forgotten {
		if time.Since(at) >= state.LeaveAfter {
			delete(t.forgotten, key)
		} else if _, back := t.sessions.Get(key); !back {
			keys = append(keys, key)
		}
	}
	return keys
}

// noteChange keeps a change until it's processed.
func (t *tracker) noteChange(c state.Change) {
	if !c.Any() {
		return
	}
	t.mu.Lock()
	if old := t.changes[c.Key]; old != nil {
		joinChanges(old, &c)
	} else {
		first := c // only this copy must outlive the call
		t.changes[c.Key] = &first
	}
	t.mu.Unlock()
	if t.idle.Load() {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

// joinChanges makes one change of two.
func joinChanges(into, next *state.Change) {
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

// takeChanges hands over what changed since the last time.
func (t *tracker) takeChanges() []*state.Change {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.changes) == 0 {
		return nil
	}
	list := make([]*state.Change, 0, len(t.changes))
	for _, c := range t.changes {
		list = append(list, c)
	}
	t.changes = map[state.Key]*state.Change{}
	return list
}

func (t *tracker) hasChanges() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.changes) > 0
}
