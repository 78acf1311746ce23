package session

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// asyncGrace is how long after a turn's end an event the agent does not wait
// for is taken to belong to that turn.
const asyncGrace = time.Second

// settleGrace is how old a turn must be before "nothing goes on any more" can
// be about it: the words may have crossed the next prompt.
const settleGrace = 2 * time.Second

// start: the session is there. Some agents say so again in the middle of a
// turn (after a compaction), some only after the first prompt.
func (s *Session) start(n *news, _ *Change) {
	if !s.Live() {
		s.revive()
		s.base(Idle, n.at)
		return
	}
	if s.Turn.Open() && s.Beneath.Base != Unsure && !s.elsewhere(n) {
		return
	}
	if s.Turn.Open() {
		// The session was taken up anew, most likely by another process: who
		// had the turn is gone, and how it went nobody knows.
		s.close(n.at, Interrupted)
		s.Asks = nil
		s.base(Idle, n.at)
		return
	}
	s.Asks = nil
	if s.Beneath.Base == NeverRan || s.Beneath.Base == Unsure {
		s.base(Idle, n.at)
	}
}

// elsewhere reports whether the event comes from another process than the one
// the open turn belongs to. note has already taken the new place over, so the
// turn's own is compared by time of start.
func (s *Session) elsewhere(n *news) bool {
	was := s.Beneath.TurnProcess
	return was != 0 && n.ev.Where.PID != 0 && (was != n.ev.Where.PID || s.Beneath.TurnStart != n.ev.Where.Start)
}

func (s *Session) revive() {
	s.Ended, s.EndReason = time.Time{}, ""
	s.Asks, s.Background = nil, 0
	s.Beneath.Depth, s.Beneath.Calls = 0, nil
}

// left: the session is over, says the agent.
func (s *Session) left(n *news, c *Change) {
	open := s.Turn.Open()
	headless := s.Attended == event.AttendedNo
	reason := n.ev.Detail
	if reason == "" {
		reason = "ended"
	}
	if open && s.Beneath.Fault != "" {
		s.finish(n, c, APIError)
	} else if open && (s.Background > 0 || s.Beneath.Spoke) {
		s.finish(n, c, "") // it had said its last word
	}
	s.leave(n.at, reason, headless)
	if open && c.Turn == nil {
		c.TurnEnded, c.Turn = true, s.Turn
	}
}

// leave ends the session. A turn that was open is cut off; that counts as a
// failure when no person can have wanted it.
func (s *Session) leave(at time.Time, reason string, unwanted bool) {
	if s.Turn.Open() {
		s.close(at, Interrupted)
		if unwanted {
			s.base(Failed, at)
		} else {
			s.base(Idle, at)
		}
	} else if s.Beneath.Base == NeverRan || s.Beneath.Base == Running || s.Beneath.Base == Unsure {
		s.base(Idle, at)
	}
	s.Asks, s.Background = nil, 0
	s.Beneath.Calls, s.Beneath.Depth, s.Beneath.Said = nil, 0, ""
	s.Ended, s.EndReason = at, fold(reason, 80)
	for i := range s.Subagents {
		if s.Subagents[i].Ended.IsZero() {
			sub := s.Subagents[i]
			sub.Ended = at
			s.Subagents = changedAt(s.Subagents, i, sub)
		}
	}
}

// doubt: it was running when it was last heard of, and nothing tells whether
// it still is.
func (s *Session) doubt(at time.Time) {
	s.Asks = nil
	s.base(Unsure, at)
	s.Beneath.Calls = nil
	s.derive()
}

// prompted: a turn begins, or goes on with what the agent told itself.
func (s *Session) prompted(n *news, c *Change) {
	if !s.Live() {
		s.revive()
	}
	t, id := s.Turn, n.turnID()
	switch {
	case t.Open() && (id != "" && id == t.ID):
		s.keepGoing(n)
		return // said twice
	case t != nil && !t.Open() && id != "" && id == t.ID:
		c.Stale = "of a turn that is over"
		return
	case t.Open() && t.Implicit && !s.elsewhere(n):
		// The turn was noticed before its prompt arrived.
		t.Implicit = false
		t.ID = id
		if n.at.Before(t.Started) {
			t.Started = n.at
		}
		s.keepGoing(n)
		return
	case t.Open() && n.steers() && s.Beneath.Base != Unsure && !s.elsewhere(n):
		s.Asks = nil
		t.Seq = max(t.Seq, n.seq) // an end that was said before is none
		return                    // more words for the same work
	case t.Open() && ownWords(n.ev.Prompt):
		// A finished task reports itself as a prompt: the same work goes on.
		s.bury(t.ID)
		t.ID = id
		s.Background = 0
		s.keepGoing(n)
		return
	case t.Open():
		s.close(n.at, s.unheard())
		c.TurnEnded, c.Turn = true, s.Turn
	}
	s.open(n, false)
	c.TurnStarted = true
}

// steers reports whether words sent during a turn are part of it.
func (n *news) steers() bool { return n.rules.Spec != nil && n.rules.Spec.Steers }

// unheard is how a turn went whose end nobody reported before the next one
// began: its last word may have been said, else it was cut off.
func (s *Session) unheard() Result {
	if s.Background > 0 || s.Beneath.Spoke {
		return s.verdict()
	}
	return Interrupted
}

// open begins a turn.
func (s *Session) open(n *news, implicit bool) {
	if s.Turn != nil {
		s.bury(s.Turn.ID)
		s.Turns = added(s.Turns, *s.Turn, MaxTurns)
	}
	s.TurnCount++
	s.Turn = &Turn{ID: n.turnID(), N: s.TurnCount, Started: n.at, Implicit: implicit, Seq: n.seq}
	s.Asks, s.Background, s.ReadAt = nil, 0, time.Time{}
	s.Beneath.Calls, s.Beneath.Done = nil, nil
	s.Beneath.Depth, s.Beneath.Fault, s.Beneath.Said, s.Beneath.Spoke = 0, "", "", false
	s.Beneath.TurnProcess, s.Beneath.TurnStart = n.ev.Where.PID, n.ev.Where.Start
	s.base(Running, n.at)
}

// reopen takes the last turn up again: a hook kept it going.
func (s *Session) reopen(at time.Time) {
	t := s.Turn
	t.Ended, t.Result, t.ExitCode, t.Error = time.Time{}, "", 0, ""
	s.ReadAt = time.Time{}
	s.base(Running, at)
}

// keepGoing: the turn that is open goes on; nobody is waited for.
func (s *Session) keepGoing(n *news) {
	s.Asks = nil
	s.base(Running, n.at)
}

func (s *Session) bury(id string) {
	if id != "" && !s.buried(id) {
		s.Beneath.Tombs = added(s.Beneath.Tombs, id, maxTombs)
	}
}

// ended: the turn is over, says the agent.
func (s *Session) ended(n *news, c *Change) {
	if s.Beneath.Depth > 0 {
		s.Beneath.Depth--
		return // a turn inside the turn
	}
	if count := n.background(); count > 0 {
		// Its last word for now; it will wake up by itself.
		if !s.Turn.Open() {
			if s.Turn != nil && (n.ev.GoingOn || n.turnID() == s.Turn.ID) {
				s.reopen(n.at)
			} else {
				s.open(n, true)
			}
		}
		s.Background = count
		s.Asks = nil
		if summary := Summary(n.ev.Message); summary != "" {
			s.Turn.Summary = summary
		}
		s.base(Running, n.at)
		return
	}
	if s.Turn != nil && !s.Turn.Open() {
		id := n.turnID()
		if !n.ev.GoingOn && (id == "" || id == s.Turn.ID) {
			// Said again: the first word about how it went stands.
			if s.Turn.Summary == "" {
				s.Turn.Summary = Summary(n.ev.Message)
			}
			return
		}
		if n.ev.GoingOn {
			s.reopen(n.at)
		}
	}
	if s.Beneath.Fault != "" {
		s.finish(n, c, APIError)
		return
	}
	s.finish(n, c, "")
}

// finish ends the turn with a result; with none given, its tool calls tell.
func (s *Session) finish(n *news, c *Change, result Result) {
	if !s.Turn.Open() {
		same := s.Turn != nil && (n.turnID() == "" || n.turnID() == s.Turn.ID)
		if result == Interrupted {
			// Nothing was going on: what was stopped was no turn of ours.
			s.Asks = nil
			if s.Beneath.Base == NeverRan || s.Beneath.Base == Unsure {
				s.base(Idle, n.at)
			}
			return
		}
		if s.Turn != nil && same {
			if result != APIError || s.Turn.Result == APIError {
				return
			}
			s.reopen(s.Turn.Ended) // a failure said after the end is still one
		} else {
			s.open(n, true) // its beginning was missed
		}
	}
	if result == "" {
		result = s.verdict()
	}
	if summary := Summary(n.ev.Message); summary != "" {
		s.Turn.Summary = summary
	}
	if result == APIError {
		if s.Turn.Error = fold(n.ev.Error, maxSummary); s.Turn.Error == "" {
			s.Turn.Error = s.Beneath.Fault
		}
	}
	s.close(n.at, result)
	s.base(statusAfter(result), n.at)
	c.TurnEnded, c.Turn = true, s.Turn
}

// verdict is how the turn went as far as its tools tell.
func (s *Session) verdict() Result {
	if s.Turn.Errors > 0 {
		return ToolErrors
	}
	return OK
}

// statusAfter is what is shown after a turn with this result. After an
// interrupt the agent sits at its prompt, and the person knows why.
func statusAfter(r Result) Status {
	switch r {
	case OK:
		return Success
	case Interrupted:
		return Idle
	}
	return Failed
}

// close writes the end into the turn.
func (s *Session) close(at time.Time, result Result) {
	t := s.Turn
	t.Ended, t.Result = at, result
	if t.Ended.Before(t.Started) {
		t.Ended = t.Started
	}
	t.ExitCode = 1
	if result == OK {
		t.ExitCode = 0
	}
	s.Asks, s.Background = nil, 0
	s.Beneath.Calls, s.Beneath.Depth, s.Beneath.Said, s.Beneath.Fault = nil, 0, "", ""
}

// idles: the agent calls for its person because it has nothing to do. It says
// so when a turn was stopped and at no other time in one.
func (s *Session) idles(n *news, c *Change) {
	if s.Turn.Open() && (s.Background > 0 || n.at.Sub(s.Turn.Started) < settleGrace) {
		return
	}
	quiet := *n
	quiet.ev = &event.Event{Turn: n.ev.Turn, Where: n.ev.Where}
	s.Beneath.Depth = 0
	s.finish(&quiet, c, Interrupted)
}

// settles: nothing goes on any more. That ends a turn whose end nobody
// reported; a question that was open was refused then. What the event says is
// no last word of the agent's.
func (s *Session) settles(n *news, c *Change) {
	if !s.Turn.Open() {
		s.Asks = nil
		if s.Beneath.Base == NeverRan || s.Beneath.Base == Unsure {
			s.base(Idle, n.at)
		}
		return
	}
	if s.Background > 0 || n.at.Sub(s.Turn.Started) < settleGrace {
		return
	}
	quiet := *n
	quiet.ev = &event.Event{Turn: n.ev.Turn, Where: n.ev.Where}
	if len(s.Asks) > 0 {
		s.finish(&quiet, c, Interrupted)
		return
	}
	s.ended(&quiet, c)
}
