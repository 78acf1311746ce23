package state

import (
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
)

// siblingWindow is how soon after a question another call of the same actor is a sibling of
// the call in question, not a sign of an answer: calls of one message are reported
// together, and people are slower.
const siblingWindow = 2 * time.Second

// workReported records that something goes on in the turn.
func (s *Session) workReported(n *input, c *Change) {
	switch n.ev.Kind {
	case event.ToolAfter:
		s.toolDone(n)
		if s.Turn.Open() && n.ev.Interrupted && (n.turnID() == "" || n.turnID() == s.Turn.ID) {
			quiet := *n
			quiet.ev = &event.Event{Turn: n.ev.Turn, Where: n.ev.Where}
			s.finishTurn(&quiet, c, Interrupted)
		}
		return
	case event.ToolBefore:
		if n.ev.Tool != nil && s.Machine.endCameFirst(n.ev.Tool.CallID) {
			return // counted when its end came
		}
	}
	if !s.ensureTurnOpen(n, c) {
		return
	}
	if n.ev.Kind == event.ToolBefore && n.ev.Tool != nil {
		s.toolBegan(n)
		if n.ev.Tool.Kind == event.Question && s.Attended != event.AttendedNo {
			s.addAsk(n)
		}
		return
	}
	s.Asks = nil
}

// ensureTurnOpen makes sure a turn is open; false when the event is too late for that.
func (s *Session) ensureTurnOpen(n *input, c *Change) bool {
	if !s.Live() {
		s.reviveSession()
	}
	s.Machine.MaybeFinished = false
	if s.Turn.Open() {
		s.Machine.setBase(Running, n.at)
		return true
	}
	if t := s.Turn; t != nil {
		if n.isAsync() && n.at.Sub(t.Ended) < asyncGrace {
			return false
		}
		id := n.turnID()
		if id != "" && id == t.ID || id == "" && t.Result == APIError {
			s.reopenTurn(n.at) // a hook kept it going, or the model answered after all
			return true
		}
	}
	s.openTurn(n, true)
	c.TurnStarted = true
	return true
}

// activityReported records a sign of life within a turn.
func (s *Session) activityReported(n *input) {
	if !s.Turn.Open() {
		return
	}
	switch n.ev.Kind {
	case event.TurnEnd:
		s.Machine.MaybeFinished = !s.Machine.hasOpenCall() // a call without a result was cut off
		if summary := SummaryLine(n.ev.Message); summary != "" {
			s.Turn.Summary = summary
		}
	case event.CompactBefore:
		s.Machine.Activity = "Compacting"
		if n.rules.Spec != nil && n.rules.Spec.SignalOf(n.ev) != "" {
			s.Machine.Activity = "" // this agent says so before every model call
		}
	case event.CompactAfter:
		s.Machine.Activity = ""
	case event.ModelBefore, event.ModelAfter:
		// The model is asked only when every call it made has its result.
		s.Machine.Activity = ""
		s.Asks = removeWhere(s.Asks, func(a *Ask) bool { return a.Actor == "" })
	}
	if s.Machine.Base == Unsure {
		s.Machine.setBase(Running, n.at)
	}
}

// toolBegan notes a call that begins.
func (s *Session) toolBegan(n *input) {
	s.Machine.WavedAway = false
	tool := n.ev.Tool
	call := Call{
		ID: tool.CallID, Tool: tool.Name, Digest: inputDigest(tool), Label: Label(tool, s.Cwd), Actor: n.actor,
		At:      n.at,
		Command: commandOf(tool), Whole: wholeCommand(tool),
	}
	again := s.Machine.callReported(&call)
	if !again {
		s.countCall(n)
	}
	if n.actor == "" {
		s.Turn.callBegan(call.ID)
	}
	s.Machine.Activity = ""
	if n.actor == "" {
		s.Machine.ModelError = "" // the model answered after all
	}
	s.Asks = removeWhere(s.Asks, func(a *Ask) bool {
		if a.Actor != n.actor {
			return false
		}
		call.Approved = call.Approved || again && a.isAbout(&call)
		return a.isAbout(&call) || n.at.Sub(a.At) >= siblingWindow
	})
	// Not every agent reports the end of a call that failed or was refused.
	// The model calls on when it has all results, so what is older than a
	// sibling is over.
	s.Machine.Calls = appendBounded(removeWhere(s.Machine.Calls, func(old *Call) bool {
		switch {
		case old.Actor != call.Actor:
			return false
		case n.at.Sub(old.At) >= siblingWindow && (old.ID == "" || old.ID != call.ID):
			s.Machine.rememberFinished(old.ID, false)
			return true
		}
		return old.ID != "" && old.ID == call.ID
	}), call, maxCalls)
}

func (s *Session) countCall(n *input) {
	if n.actor != "" {
		s.Subagents = s.Subagents.withChanged(n, func(sub *Subagent) { sub.Tools++ })
		return
	}
	if s.Turn != nil {
		s.Turn.Tools++
	}
}

// toolDone notes a call that ended. It never begins a turn: it may be the
// late word of one that is over.
func (s *Session) toolDone(n *input) {
	tool := n.ev.Tool
	if tool == nil {
		return
	}
	call := Call{ID: tool.CallID, Tool: tool.Name, Digest: inputDigest(tool), Actor: n.actor}
	known := s.Machine.takeCall(&call)
	twice := !known && s.Machine.callFinished(call.ID) // two events tell of one call
	if !twice {
		s.Machine.rememberFinished(call.ID, !known)
	}
	if !known && !twice && call.ID != "" {
		s.countCall(n) // its beginning was not heard of
	}
	first := true
	s.Asks = removeWhere(s.Asks, func(a *Ask) bool {
		if a.Actor != n.actor || !first {
			return false
		}
		// Of a question that names no call, any result of its actor is the
		// answer.
		if a.isAbout(&call) || a.Call == "" && a.Digest == 0 && a.Tool == "" {
			first = false
			return true
		}
		return false
	})
	if s.Turn == nil && n.actor == "" {
		// The beginning was missed, and so far nothing else is known.
		s.openTurn(n, true)
	} else if s.Turn.Open() && s.Machine.Base != Running {
		s.Machine.setBase(Running, n.at)
	}
	if !known && !twice && n.actor == "" {
		s.Turn.callBegan(call.ID)
	}
	s.recordOutcome(n, &call, twice)
}

// recordOutcome keeps what a call left behind: files and failures.
func (s *Session) recordOutcome(n *input, call *Call, twice bool) {
	failed, text, exit := Failing(n.ev)
	if failed && s.Machine.wasDenied(call) {
		return // agents report what was refused as an error
	}
	if !failed {
		for _, path := range n.ev.Tool.Writes {
			s.Files = withFile(s.Files, path, s.Cwd)
		}
		// Not every agent's event says that a call failed.
		if n.actor == "" && s.Turn != nil && !twice {
			var early bool
			if s.Errors, early = consumeEarly(s.Errors, s.TurnCount, call.ID); !early {
				s.Turn.callEnded(call.ID, false)
			}
		}
		return
	}
	f := Failure{At: n.at, Turn: s.TurnCount, Tool: Label(n.ev.Tool, s.Cwd), Text: text, Exit: exit, Call: call.ID}
	if (twice || call.ID == "") && failureKnown(s.Errors, f) {
		return
	}
	var early bool
	if s.Errors, early = consumeEarly(s.Errors, s.TurnCount, call.ID); early {
		return
	}
	if n.actor != "" {
		s.Subagents = s.Subagents.withChanged(n, func(sub *Subagent) { sub.Errors++ })
	} else if t := s.Turn; t != nil {
		t.Errors++
		t.callEnded(call.ID, true)
		s.Machine.recomputeResult(t)
	}
	s.Errors = appendBounded(s.Errors, f, MaxErrors)
}

// consumeEarly reports whether the transcript showed the failure of a turn's call before the
// event of its end. That is counted once: the returned list no longer contains it.
func consumeEarly(list []Failure, turn int, call string) ([]Failure, bool) {
	for i := range list {
		if f := &list[i]; f.Early && call != "" && f.Turn == turn && f.Call == call {
			list = slices.Clone(list)
			list[i].Early = false
			return list, true
		}
	}
	return list, false
}

// failureKnown reports whether a failure of this turn is known: by its call, or, if one of
// the two reports has no ids, by what was called.
func failureKnown(list []Failure, f Failure) bool {
	for i := range list {
		old := &list[i]
		if old.Turn != f.Turn {
			continue
		}
		if f.Call != "" && old.Call == f.Call || f.Tool != "" && old.Tool == f.Tool &&
			(f.Call == "") != (old.Call == "") {
			return true
		}
	}
	return false
}

// withFile adds a written file to a list, the latest last. cwd is the session's folder.
func withFile(list []string, path, cwd string) []string {
	path = relativePath(Fold(path, 400), cwd)
	if path == "" {
		return list
	}
	return appendBounded(removeWhere(list, func(old *string) bool { return *old == path }), path, MaxFiles)
}

// recordLateFiles keeps what a late event still adds: files, and nothing about the status.
func (s *Session) recordLateFiles(n *input) {
	if n.ev.Kind == event.ToolAfter && n.ev.Tool != nil {
		if failed, _, _ := Failing(n.ev); !failed {
			for _, path := range n.ev.Tool.Writes {
				s.Files = withFile(s.Files, path, s.Cwd)
			}
		}
	}
}
