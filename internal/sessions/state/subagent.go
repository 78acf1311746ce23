package state

import (
	"github.com/hookmux/hookmux/event"
)

// trackSubagent: a subagent begins or ends.
func (s *Session) trackSubagent(n *input) {
	if n.ev.Kind == event.SubagentStart {
		if findSubagent(s.Subagents, n) >= 0 {
			return
		}
		id, kind := n.subagentName()
		s.Subagents = appendBounded(s.Subagents, Subagent{ID: id, Type: kind, Started: n.at}, MaxSubagents)
		return
	}
	s.endSubagent(n)
}

func (s *Session) endSubagent(n *input) {
	i := findSubagent(s.Subagents, n)
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

// findSubagent is the latest subagent an event is about, one that goes on
// before one that ended; -1 when there is none.
func findSubagent(list []Subagent, n *input) int {
	id, kind := n.subagentName()
	found := -1
	for i := range list {
		sub := &list[i]
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
	i := findSubagent(s.Subagents, n)
	if i < 0 {
		id, kind := n.subagentName()
		s.Subagents = appendBounded(s.Subagents, Subagent{ID: id, Type: kind, Started: n.at}, MaxSubagents)
		i = len(s.Subagents) - 1
	}
	sub := s.Subagents[i]
	f(&sub)
	s.Subagents = replaceAt(s.Subagents, i, sub)
}
