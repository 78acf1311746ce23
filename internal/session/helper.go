package session

import (
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// helper: a subagent begins or ends.
func (s *Session) helper(n *news) {
	if n.ev.Kind == event.SubagentStart {
		if s.findHelper(n) >= 0 {
			return
		}
		id, kind := n.helperName()
		s.Subagents = added(s.Subagents, Subagent{ID: id, Type: kind, Started: n.at}, MaxSubagents)
		return
	}
	s.helperEnds(n)
}

func (s *Session) helperEnds(n *news) {
	i := s.findHelper(n)
	if i < 0 {
		return // never heard of, e.g. the agent's own compaction helper
	}
	sub := s.Subagents[i]
	sub.Ended = n.at
	if summary := Summary(n.ev.Message); summary != "" {
		sub.Summary = summary
	}
	s.Subagents = changedAt(s.Subagents, i, sub)
	s.Asks = without(s.Asks, func(a *Ask) bool { return a.Actor == n.actor })
	s.Beneath.Calls = without(s.Beneath.Calls, func(c *Call) bool { return c.Actor == n.actor })
}

func (n *news) helperName() (id, kind string) {
	id = n.actor
	if sub := n.ev.Subagent; sub != nil {
		id, kind = sub.ID, sub.Type
	}
	return fold(id, 200), fold(kind, 80)
}

// findHelper is the latest subagent an event is about, one that goes on
// before one that ended; -1 when there is none.
func (s *Session) findHelper(n *news) int {
	id, kind := n.helperName()
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

func (s *Session) withHelper(n *news, f func(*Subagent)) {
	i := s.findHelper(n)
	if i < 0 {
		id, kind := n.helperName()
		s.Subagents = added(s.Subagents, Subagent{ID: id, Type: kind, Started: n.at}, MaxSubagents)
		i = len(s.Subagents) - 1
	}
	sub := s.Subagents[i]
	f(&sub)
	s.Subagents = changedAt(s.Subagents, i, sub)
}

// helped: a subagent reports. It counts for the session, but its turns are
// not the session's.
func (s *Session) helped(n *news, signal agent.Signal, c *Change) {
	if !s.Live() {
		c.Stale = "the session has ended"
		return
	}
	switch signal {
	case agent.SignalLeaves, agent.SignalEnds, agent.SignalFails, agent.SignalInterrupts:
		s.helperEnds(n)
	case agent.SignalStarts, agent.SignalPrompts:
		if n.child {
			s.withHelper(n, func(sub *Subagent) { sub.Ended = time.Time{} })
		}
	case agent.SignalAsks:
		s.ask(n)
	case agent.SignalAnswered:
		s.answered(n)
	case agent.SignalWorks:
		switch {
		case n.ev.Tool == nil:
		case n.ev.Kind == event.ToolBefore && !s.overtaken(n):
			s.toolBegan(n)
		case n.ev.Kind == event.ToolAfter:
			s.toolDone(n)
		}
	}
	if s.Turn.Open() && s.Beneath.Base == Unsure {
		s.base(Running, n.at)
	}
}
