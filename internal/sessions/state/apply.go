package state

import (
	"cmp"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// ApplyNumbered applies one event of an agent. Its cost does not depend on how many
// sessions there are. seq is the sender's number of the event, 0 where it does not
// number: a number below that of a turn's start cannot touch that turn.
func (b *Sessions) ApplyNumbered(ev *event.Event, seq uint64, rules Rules) Change {
	n := input{ev: ev, at: ev.Time, seq: seq, rules: rules}
	b.mu.Lock()
	defer b.mu.Unlock()
	key, why := b.findSession(&n)
	if why != No {
		return Change{Key: key, Stale: why}
	}
	old := b.sessions[key]
	if old == nil && ev.Session == "" && n.statusSignal() == agent.SignalNothing {
		// CodeBuddy says that it may be used before it has a session.
		return Change{Key: key, Stale: BeginsNoSession}
	}
	c := Change{Key: key, Subagent: n.actor != ""}
	var next *Session
	if old != nil {
		next = old.copySession()
	} else {
		next = newSession(key, n.at)
	}
	next.Unprompted = false
	next.recordFacts(&n)
	if !rules.Off {
		next.applySignal(&n, &c)
	}
	b.commitChange(old, next, &c)
	return c
}

// findSession finds the session an event belongs to: a subagent's belongs to the session it
// works for. It says why if there is none.
func (b *Sessions) findSession(n *input) (Key, StaleReason) {
	ev := n.ev
	key := Key{ev.Agent, ev.Session}
	if key.ID == "" {
		if key.ID = fallbackID(ev); key.ID == "" {
			return key, NoSession
		}
	}
	if parent, ok := b.index.children[key]; ok && b.sessions[parent] != nil {
		n.actor, n.child = key.ID, true
		return parent, No
	}
	sub := ev.Subagent
	if sub == nil {
		return key, No
	}
	n.actor = cmp.Or(sub.ID, sub.Type, "?")
	if sub.Parent != "" && sub.Parent != ev.Session {
		parent := Key{ev.Agent, sub.Parent}
		if above, ok := b.index.children[parent]; ok { // a helper's helper
			parent = above
		}
		n.child = true
		if b.sessions[parent] == nil {
			return parent, UnknownParent
		}
		return parent, No
	}
	if sub.ID == ev.Session && n.rules.Spec != nil && n.rules.Spec.ChildSessions {
		n.child = true
		return key, UnknownParent
	}
	return key, No
}

// fallbackID returns an id for the session of an event that names none, made from the
// process, the terminal or the folder it comes from. No agent would use such an id, so the
// session is never resumed.
func fallbackID(ev *event.Event) string {
	switch at := &ev.Where; {
	case at.PID > 0:
		return "pid:" + strconv.Itoa(at.PID) + "." + strconv.FormatUint(at.Start, 10)
	case at.TTY != "":
		return "tty:" + at.TTY
	case ev.Cwd != "":
		return "dir:" + ev.Cwd
	}
	return ""
}

// recordFacts keeps what an event says about the session, whatever it says about the
// status.
func (s *Session) recordFacts(n *input) {
	ev := n.ev
	if n.at.After(s.LastEvent) {
		s.LastEvent = n.at
	}
	if n.seq > s.Machine.Seq {
		s.Machine.Seq = n.seq
	}
	if n.actor == "" || !n.child {
		if n.actor == "" {
			setIfGiven(&s.Cwd, ev.Cwd)
		}
		if ev.Where.PID != 0 || ev.Where.Pane != "" || ev.Where.TTY != "" || ev.Where.Shared {
			s.Place = movedPlace(s.Place, ev.Where)
		}
	}
	if n.actor != "" {
		return
	}
	setIfGiven(&s.Mode, ev.Mode)
	setIfGiven(&s.Model, ev.Model)
	setIfGiven(&s.Version, ev.AgentVersion)
	setIfGiven(&s.Transcript, ev.Transcript)
	if ev.Attended != event.AttendedUnknown {
		s.Attended = ev.Attended
	}
	if ev.Reviewer != event.ReviewerUnknown {
		s.Reviewer = ev.Reviewer
	}
	s.recordTitles(n)
}

// movedPlace returns where the session runs now. What was found out about a terminal that a
// shared daemon serves stays: its events don't contain it.
func movedPlace(old, where event.Place) event.Place {
	if where.Shared && where.Pane == "" && old.Shared && old.PID == where.PID && old.Start == where.Start {
		where.Pane, where.Mux, where.Server, where.TTY = old.Pane, old.Mux, old.Server, old.TTY
		where.Holder, where.HolderStart = old.Holder, old.HolderStart
	}
	return where
}

func setIfGiven(into *string, said string) {
	if said != "" && *into != said { // the old one holds on to less memory
		*into = said
	}
}

// applySignal follows what the event says about the status.
func (s *Session) applySignal(n *input, c *Change) {
	signal := n.statusSignal()
	if signal == agent.SignalNests {
		s.Machine.NestedTurns++
		return
	}
	switch n.ev.Kind {
	case event.SubagentStart, event.SubagentEnd:
		s.trackSubagent(n)
		return
	}
	if n.actor != "" {
		s.subagentReported(n, signal, c)
		return
	}
	if why := s.staleReason(n, signal); why != No {
		c.Stale = why
		s.recordLateFiles(n)
		return
	}
	switch signal {
	case agent.SignalStarts:
		s.sessionStarted(n, c)
	case agent.SignalLeaves:
		s.sessionEnded(n, c)
	case agent.SignalPrompts:
		s.promptSubmitted(n, c)
	case agent.SignalWorks:
		s.workReported(n, c)
	case agent.SignalActive:
		s.activityReported(n)
	case agent.SignalRecovers:
		if t := s.Turn; t != nil && !t.Open() && t.Result == APIError && (n.turnID() == "" || n.turnID() == t.ID) {
			s.reopenTurn(n.at)
		}
		s.activityReported(n)
	case agent.SignalSays:
		if s.Turn.Open() {
			s.Machine.Activity = Fold(n.ev.Message, maxLabel)
		}
	case agent.SignalAsks:
		if n.ev.ReviewedByAgent() { // no person is asked: the turn goes on
			s.ensureTurnOpen(n, c)
			return
		}
		s.addAsk(n)
	case agent.SignalAttention:
		if s.Machine.Base == Running && len(s.Asks)+len(s.Requests) == 0 {
			s.addAsk(n)
		}
	case agent.SignalAnswered:
		s.dropAsk(s.askAnswered(n), n) // somebody answered, or the question was taken back
	case agent.SignalRefuses:
		refuseAsk(s, n)
	case agent.SignalFaults:
		if s.Machine.ModelError = Fold(n.ev.Error, maxSummary); s.Machine.ModelError == "" {
			s.Machine.ModelError = "the model could not be asked"
		}
	case agent.SignalEnds:
		s.turnEnded(n, c)
	case agent.SignalFails:
		s.Machine.NestedTurns = 0
		if n.rules.Spec != nil && n.rules.Spec.SaysNothing(n.ev.Message) {
			quiet := *n.ev
			quiet.Message = ""
			n.ev = &quiet
		}
		s.finishTurn(n, c, APIError)
	case agent.SignalDeclines:
		s.Machine.noteRefusals(s.Turn, s.Asks, n)
		s.Machine.NestedTurns = 0
		s.finishTurn(n, c, Interrupted)
	case agent.SignalInterrupts:
		if n.ev.Kind == event.UserAttention {
			s.agentCallsUser(n, c)
			return
		}
		s.Machine.NestedTurns = 0
		s.finishTurn(n, c, Interrupted)
	case agent.SignalIdle:
		s.agentBecameIdle(n, c)
	}
}

// staleReason says why an event must not touch the status: it belongs to a turn that
// is over, or to a time before what is known.
func (s *Session) staleReason(n *input, signal agent.Signal) StaleReason {
	if !s.Live() {
		switch {
		case n.at.Before(s.Ended):
			return BeforeSessionEnd
		case signal == agent.SignalStarts || signal == agent.SignalPrompts || signal == agent.SignalAsks:
		case n.ev.Kind == event.ToolBefore && n.at.After(s.Ended):
		default:
			return SessionOver
		}
		return No
	}
	t := s.Turn
	if t == nil {
		return No
	}
	// Agents that count their prompts give a number twice when a session is taken up.
	takenUp := signal == agent.SignalPrompts && s.Machine.fromOtherProcess(n)
	if id := n.turnID(); id != "" && id != t.ID && s.Machine.turnClosed(id) && !takenUp {
		return TurnOver
	}
	if id := n.turnID(); id != "" && id == t.ID && !t.Open() && n.ev.Kind == event.UserAttention &&
		signal == agent.SignalAsks {
		return TurnOver
	}
	if n.seq != 0 && n.seq < t.Seq && n.ev.Where.PID != 0 && !s.Machine.fromOtherProcess(n) {
		return SentBeforeTurn
	}
	if n.at.Before(t.Started) && !(t.Implicit && signal == agent.SignalPrompts) && signal != agent.SignalStarts {
		return BeforeTurn
	}
	return No
}

// subagentReported applies an event of a subagent. It belongs to the session, but its turns
// aren't the session's.
func (s *Session) subagentReported(n *input, signal agent.Signal, c *Change) {
	if !s.Live() {
		c.Stale = SessionOver
		return
	}
	switch signal {
	case agent.SignalLeaves, agent.SignalEnds, agent.SignalFails, agent.SignalInterrupts,
		agent.SignalDeclines:
		s.endSubagent(n)
	case agent.SignalStarts, agent.SignalPrompts:
		if n.child {
			s.Subagents = s.Subagents.withChanged(n, func(sub *Subagent) { sub.Ended = time.Time{} })
		}
	case agent.SignalAsks:
		if !n.ev.ReviewedByAgent() {
			s.addAsk(n)
		}
	case agent.SignalAnswered:
		s.dropAsk(s.askAnswered(n), n) // somebody answered, or the question was taken back
	case agent.SignalRefuses:
		refuseAsk(s, n)
	case agent.SignalWorks:
		switch {
		case n.ev.Tool == nil:
		case n.ev.Kind == event.ToolBefore && !s.Machine.endCameFirst(n.ev.Tool.CallID):
			s.toolBegan(n)
		case n.ev.Kind == event.ToolAfter:
			s.toolDone(n)
		}
	}
	if s.Turn.Open() && s.Machine.Base == Unsure {
		s.Machine.setBase(Running, n.at)
	}
}
