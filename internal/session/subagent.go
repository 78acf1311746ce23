package session

import (
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// trackSubagent: a subagent begins or ends.
func (s *Session) trackSubagent(n *input) {
	if n.ev.Kind == event.SubagentStart {
		if s.findSubagent(n) >= 0 {
			return
		}
		id, kind := n.subagentName()
		s.Subagents = appendBounded(s.Subagents, Subagent{ID: id, Type: kind, Started: n.at}, MaxSubagents)
		return
	}
	s.endSubagent(n)
}

func (s *Session) endSubagent(n *input) {
	i := s.findSubagent(n)
	if i < 0 {
		return // never heard of, e.g. the agent's own compaction helper
	}
	sub := s.Subagents[i]
	sub.Ended = n.at
	if summary := Summary(n.ev.Message); summary != "" {
		sub.Summary = summary
	}
	s.Subagents = replaceAt(s.Subagents, i, sub)
	s.Asks = removeWhere(s.Asks, func(a *Ask) bool { return a.Actor == n.actor })
	s.Machine.Calls = removeWhere(s.Machine.Calls, func(c *Call) bool { return c.Actor == n.actor })
}

func (n *input) subagentName() (id, kind string) {
	id = n.actor
	if sub := n.ev.Subagent; sub != nil {
		id, kind = sub.ID, sub.Type
	}
	return foldLine(id, 200), foldLine(kind, 80)
}

// findSubagent is the latest subagent an event is about, one that goes on
// before one that ended; -1 when there is none.
func (s *Session) findSubagent(n *input) int {
	id, kind := n.subagentName()
	found := -1
	for i := range s.Subagents {
		sub := &s.Subagents[i]
		if id != "" && sub.ID != id || id == "" && (sub.ID != "" || sub.Type != kind) {
			continue
		}
		if sub.Ended.IsZero() {
			return i
		}
		if id != "" {
			found = i
		}
	}
	return found
}

func (s *Session) changeSubagent(n *input, f func(*Subagent)) {
	i := s.findSubagent(n)
	if i < 0 {
		id, kind := n.subagentName()
		s.Subagents = appendBounded(s.Subagents, Subagent{ID: id, Type: kind, Started: n.at}, MaxSubagents)
		i = len(s.Subagents) - 1
	}
	sub := s.Subagents[i]
	f(&sub)
	s.Subagents = replaceAt(s.Subagents, i, sub)
}

// subagentReported: a subagent reports. It counts for the session, but its turns are
// not the session's.
func (s *Session) subagentReported(n *input, signal agent.Signal, c *Change) {
	if !s.Live() {
		c.Stale = "the session has ended"
		return
	}
	switch signal {
	case agent.SignalLeaves, agent.SignalEnds, agent.SignalFails, agent.SignalInterrupts:
		s.endSubagent(n)
	case agent.SignalStarts, agent.SignalPrompts:
		if n.child {
			s.changeSubagent(n, func(sub *Subagent) { sub.Ended = time.Time{} })
		}
	case agent.SignalAsks:
		s.addAsk(n)
	case agent.SignalAnswered:
		s.resolveAsk(n)
	case agent.SignalWorks:
		switch {
		case n.ev.Tool == nil:
		case n.ev.Kind == event.ToolBefore && !s.endCameFirst(n):
			s.toolBegan(n)
		case n.ev.Kind == event.ToolAfter:
			s.toolDone(n)
		}
	}
	if s.Turn.Open() && s.Machine.Base == Unsure {
		s.setBase(Running, n.at)
	}
}
