package state

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// asyncGrace is how long after a turn's end an event the agent does not wait
// for is taken to belong to that turn.
const asyncGrace = time.Second

// idleGrace is how old a turn must be before an idle report applies to it: the report can
// race with the next prompt.
const idleGrace = 2 * time.Second

// sessionStarted records that the session is there. Some agents say so again in the
// middle of a turn (after a compaction), some only after the first prompt.
func (s *Session) sessionStarted(n *input, _ *Change) {
	if !s.Live() {
		s.reviveSession()
		s.Machine.setBase(Idle, n.at)
		return
	}
	if s.Turn.Open() && s.Machine.Base != Unsure && !s.Machine.fromOtherProcess(n) {
		return
	}
	if s.Turn.Open() {
		// The session was resumed, most likely by another process: the one that had the turn
		// is gone, and how the turn went isn't known.
		s.closeTurn(n.at, Interrupted)
		s.Asks = nil
		s.Machine.setBase(Idle, n.at)
		return
	}
	s.Asks = nil
	if s.Machine.Base == NeverRan || s.Machine.Base == Unsure {
		s.Machine.setBase(Idle, n.at)
	}
}

func (s *Session) reviveSession() {
	s.Ended, s.EndReason, s.CutOff = time.Time{}, "", false
	s.Asks, s.Background = nil, 0
	s.Machine.NestedTurns, s.Machine.Calls = 0, nil
}

// sessionEnded applies the agent's report that the session is over.
func (s *Session) sessionEnded(n *input, c *Change) {
	open := s.Turn.Open()
	headless := s.Attended == event.AttendedNo
	reason := n.ev.Detail
	if reason == "" {
		reason = "ended"
	}
	if open && s.Machine.ModelError != "" {
		s.finishTurn(n, c, APIError)
	} else if open && (s.Background > 0 || s.Machine.MaybeFinished) {
		s.finishTurn(n, c, "") // it had said its last word
	}
	s.endSession(n.at, reason, headless)
	if open && c.Turn == nil {
		c.TurnEnded, c.Turn = true, s.Turn
	}
}

// endSession ends the session. An open turn is cut off; that is a failure if it was surely
// unintended.
func (s *Session) endSession(at time.Time, reason string, unwanted bool) {
	if s.Turn.Open() {
		s.closeTurn(at, Interrupted)
		if unwanted {
			s.Machine.setBase(Failed, at)
			s.CutOff = true
		} else {
			s.Machine.setBase(Idle, at)
		}
	} else if s.Machine.Base == NeverRan || s.Machine.Base == Running || s.Machine.Base == Unsure {
		s.Machine.setBase(Idle, at)
	}
	s.Asks, s.Background = nil, 0
	s.Machine.Calls, s.Machine.NestedTurns, s.Machine.Activity = nil, 0, ""
	s.Ended, s.EndReason = at, Fold(reason, 80)
	for i := range s.Subagents {
		if s.Subagents[i].Ended.IsZero() {
			sub := s.Subagents[i]
			sub.Ended = at
			s.Subagents = replaceAt(s.Subagents, i, sub)
		}
	}
}

// markUnsure is for a session that ran at its last report, if it isn't known whether it still
// does.
func (s *Session) markUnsure(at time.Time) {
	s.Asks = nil
	s.Machine.setBase(Unsure, at)
	s.Machine.Calls = nil
	s.deriveStatus()
}

// promptSubmitted begins a turn, or continues one if the agent prompted itself.
func (s *Session) promptSubmitted(n *input, c *Change) {
	if !s.Live() {
		s.reviveSession()
	}
	t, id := s.Turn, n.turnID()
	switch {
	case t.Open() && (id != "" && id == t.ID):
		s.continueTurn(n)
		return // said twice
	case t != nil && !t.Open() && id != "" && id == t.ID && !s.Machine.fromOtherProcess(n):
		c.Stale = TurnOver
		return
	case t.Open() && t.Implicit && !s.Machine.fromOtherProcess(n):
		// The turn was noticed before its prompt arrived.
		t.Implicit = false
		t.ID = id
		if n.at.Before(t.Started) {
			t.Started = n.at
		}
		s.continueTurn(n)
		return
	case t.Open() && n.isSteering() && s.Machine.Base != Unsure && !s.Machine.fromOtherProcess(n):
		s.Asks = nil
		t.Seq = max(t.Seq, n.seq) // an end that was reported before does not count
		return                    // more words for the same work
	case t.Open() && isAgentsOwnReport(n.ev.Prompt):
		// A finished task reports itself as a prompt: the same work goes on.
		s.Machine.rememberClosedTurn(t.ID)
		t.ID = id
		s.Background = 0
		s.continueTurn(n)
		return
	case t.Open():
		s.closeTurn(n.at, s.Machine.unreportedResult(s.Turn, s.Background))
		c.TurnEnded, c.Turn = true, s.Turn
	}
	s.openTurn(n, false)
	c.TurnStarted = true
}

// unreportedResult returns how a turn went whose end wasn't reported before the next one
// began: its last message may have been sent, otherwise it was cut off.
func (m *MachineState) unreportedResult(t *Turn, background int) Result {
	if background > 0 || m.MaybeFinished {
		return t.resultFromTools()
	}
	return Interrupted
}

// openTurn begins a turn.
func (s *Session) openTurn(n *input, implicit bool) {
	if s.Turn != nil {
		s.Machine.rememberClosedTurn(s.Turn.ID)
		s.Turns = appendBounded(s.Turns, *s.Turn, MaxTurns)
	}
	s.TurnCount++
	s.Turn = &Turn{ID: n.turnID(), N: s.TurnCount, Started: n.at, Implicit: implicit, Seq: n.seq}
	s.Asks, s.Background, s.ReadAt = nil, 0, time.Time{}
	s.Machine.Calls, s.Machine.Finished, s.Machine.Denied = nil, nil, nil
	s.Machine.NestedTurns, s.Machine.ModelError, s.Machine.Activity, s.Machine.MaybeFinished = 0, "", "", false
	s.Machine.WavedAway = false
	s.Machine.TurnProcess, s.Machine.TurnStart = n.ev.Where.PID, n.ev.Where.Start
	s.Machine.setBase(Running, n.at)
}

// reopenTurn takes the last turn up again: a hook kept it going.
func (s *Session) reopenTurn(at time.Time) {
	t := s.Turn
	t.Ended, t.Result, t.ExitCode, t.Error = time.Time{}, "", 0, ""
	s.ReadAt = time.Time{}
	s.Machine.setBase(Running, at)
}

// continueTurn continues the open turn; nothing waits for you.
func (s *Session) continueTurn(n *input) {
	s.Asks = nil
	s.Machine.setBase(Running, n.at)
}

// turnEnded applies the agent's report that the turn is over.
func (s *Session) turnEnded(n *input, c *Change) {
	if s.Machine.NestedTurns > 0 {
		s.Machine.NestedTurns--
		return // a turn inside the turn
	}
	if count := n.backgroundTasks(); count > 0 {
		// Its last word for now; it will wake up by itself.
		if !s.Turn.Open() {
			if s.Turn != nil && (n.ev.GoingOn || n.turnID() == s.Turn.ID) {
				s.reopenTurn(n.at)
			} else {
				s.openTurn(n, true)
			}
		}
		s.Background = count
		s.Asks = nil
		if summary := SummaryLine(n.ev.Message); summary != "" {
			s.Turn.Summary = summary
		}
		s.Machine.setBase(Running, n.at)
		return
	}
	if s.Turn != nil && !s.Turn.Open() {
		id := n.turnID()
		if !n.ev.GoingOn && (id == "" || id == s.Turn.ID) {
			// Reported again: the first message about how it went is kept.
			if s.Turn.Summary == "" && (n.rules.Spec == nil || !n.rules.Spec.SaysNothing(n.ev.Message)) {
				s.Turn.Summary = SummaryLine(n.ev.Message)
				s.Machine.recomputeResult(s.Turn)
			}
			return
		}
		if n.ev.GoingOn {
			s.reopenTurn(n.at)
		}
	}
	if s.Machine.ModelError != "" {
		s.finishTurn(n, c, APIError)
		return
	}
	if s.Machine.WavedAway && n.ev.Message == "" {
		s.finishTurn(n, c, Interrupted) // it stopped at its question
		return
	}
	s.finishTurn(n, c, "")
}

// finishTurn ends the turn with a result; without one, its tool calls decide.
func (s *Session) finishTurn(n *input, c *Change, result Result) {
	if !s.Turn.Open() {
		same := s.Turn != nil && (n.turnID() == "" || n.turnID() == s.Turn.ID)
		if result == Interrupted {
			// Nothing was going on: what was stopped was no turn of ours.
			s.Asks = nil
			if s.Machine.Base == NeverRan || s.Machine.Base == Unsure {
				s.Machine.setBase(Idle, n.at)
			}
			return
		}
		if s.Turn != nil && same {
			unexplained := n.ev.Error == "" && s.Machine.ModelError == ""
			if result != APIError || s.Turn.Result == APIError || s.Turn.Result == Interrupted && unexplained {
				return
			}
			s.reopenTurn(s.Turn.Ended) // a failure said after the end is still one
		} else {
			s.openTurn(n, true) // its beginning was missed
		}
	}
	if summary := SummaryLine(n.ev.Message); summary != "" {
		s.Turn.Summary = summary
	}
	if result == "" {
		result = s.Turn.resultFromTools()
	}
	if result == APIError {
		if s.Turn.Error = Fold(n.ev.Error, maxSummary); s.Turn.Error == "" {
			s.Turn.Error = s.Machine.ModelError
		}
	}
	s.closeTurn(n.at, result)
	s.Machine.setBase(statusAfter(result), n.at)
	c.TurnEnded, c.Turn = true, s.Turn
}

// resultFromTools returns how the turn went as far as its tools show: an agent that
// continued after a failed call, or sent its last message after it, has most likely dealt
// with it; one that ended with a failed call and without a message has not.
func (t *Turn) resultFromTools() Result {
	if t.LastCallFailed && t.Summary == "" {
		return ToolErrors
	}
	return OK
}

// callBegan makes this the turn's last call.
func (t *Turn) callBegan(id string) {
	if t != nil {
		t.LastCall, t.LastCallFailed = id, false
	}
}

// callEnded keeps how the turn's last call went. Ends may be reported in any
// order, so that of an earlier call changes nothing.
func (t *Turn) callEnded(id string, failed bool) {
	if t.LastCall == "" || id == "" || t.LastCall == id {
		t.LastCallFailed = failed
	}
}

// recomputeResult corrects the result of a turn that is over, after a late report about
// its last call.
func (m *MachineState) recomputeResult(t *Turn) {
	if t.Open() || t.Result != OK && t.Result != ToolErrors || t.Result == t.resultFromTools() {
		return
	}
	t.Result = t.resultFromTools()
	if t.ExitCode = 0; t.Result != OK {
		t.ExitCode = 1
	}
	if m.Base == Success || m.Base == Failed {
		m.setBase(statusAfter(t.Result), t.Ended)
	}
}

// statusAfter returns what is shown after a turn with this result. After an
// interrupt the agent sits at its prompt, and the user knows why.
func statusAfter(r Result) Status {
	switch r {
	case OK:
		return Success
	case Interrupted:
		return Idle
	}
	return Failed
}

// closeTurn writes the end into the turn.
func (s *Session) closeTurn(at time.Time, result Result) {
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
	s.Machine.Calls, s.Machine.NestedTurns, s.Machine.Activity, s.Machine.ModelError = nil, 0, "", ""
}

// agentCallsUser applies that the agent calls for its person because it has nothing to do.
// Within a turn it says so only when the turn was stopped.
func (s *Session) agentCallsUser(n *input, c *Change) {
	if s.Turn.Open() && (s.Background > 0 || n.at.Sub(s.Turn.Started) < idleGrace) {
		return
	}
	quiet := *n
	quiet.ev = &event.Event{Turn: n.ev.Turn, Where: n.ev.Where}
	s.Machine.NestedTurns = 0
	s.finishTurn(&quiet, c, Interrupted)
}

// agentBecameIdle is called when the agent has become idle. It ends a turn whose end wasn't
// reported; an open question was denied then. The event's text isn't the agent's last
// message.
func (s *Session) agentBecameIdle(n *input, c *Change) {
	if !s.Turn.Open() {
		s.Asks = nil
		if s.Machine.Base == NeverRan || s.Machine.Base == Unsure {
			s.Machine.setBase(Idle, n.at)
		}
		return
	}
	if s.Background > 0 || n.at.Sub(s.Turn.Started) < idleGrace {
		return
	}
	quiet := *n
	quiet.ev = &event.Event{Turn: n.ev.Turn, Where: n.ev.Where}
	// An agent that asks for a prompt although nothing came of the last one: the user
	// took it back.
	takenBack := n.ev.Kind == event.UserAttention && s.Turn.Tools == 0 && s.Turn.Summary == ""
	if len(s.Asks) > 0 || takenBack {
		s.finishTurn(&quiet, c, Interrupted)
		return
	}
	s.turnEnded(&quiet, c)
}
