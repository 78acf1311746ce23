package state

import (
	"github.com/hookmux/hookmux/event"
)

// findSubagent returns the latest subagent an event is about, one that goes on before one
// that ended; -1 when there is none.
func (l SubagentList) findSubagent(n *input) int {
	id, kind := n.subagentName()
	found := -1
	for i := range l {
		sub := &l[i]
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

// withStarted returns the list with the subagent an event is about, which may be in
// it already.
func (l SubagentList) withStarted(n *input) SubagentList {
	if l.findSubagent(n) >= 0 {
		return l
	}
	id, kind := n.subagentName()
	return appendBounded(l, Subagent{ID: id, Type: kind, Started: n.at}, MaxSubagents)
}

// withChanged returns the list in which the subagent an event is about was changed.
// One that was not heard of before is added.
func (l SubagentList) withChanged(n *input, change func(*Subagent)) SubagentList {
	i := l.findSubagent(n)
	if i < 0 {
		l = l.withStarted(n)
		i = len(l) - 1
	}
	sub := l[i]
	change(&sub)
	return replaceAt(l, i, sub)
}

// trackSubagent records that a subagent begins or ends.
func (s *Session) trackSubagent(n *input) {
	if n.ev.Kind == event.SubagentStart {
		s.Subagents = s.Subagents.withStarted(n)
		return
	}
	s.endSubagent(n)
}

func (s *Session) endSubagent(n *input) {
	if s.Subagents.findSubagent(n) < 0 {
		return // never heard of, e.g. the agent's own compaction helper
	}
	s.Subagents = s.Subagents.withChanged(n, func(sub *Subagent) {
		sub.Ended = n.at
		if summary := SummaryLine(n.ev.Message); summary != "" {
			sub.Summary = summary
		}
	})
	s.Asks = removeWhere(s.Asks, func(a *Ask) bool { return a.Actor == n.actor })
	s.Machine.Calls = removeWhere(s.Machine.Calls, func(c *Call) bool { return c.Actor == n.actor })
}
