package policy

import (
	"sync"

	"github.com/hookmux/hookmux/event"
)

// Served remembers what a person said about a call, so that one call is asked
// about once: the answer at one event serves the event of another kind that
// follows it for the same call, one time. A call that begins anew, ended, or
// whose turn ended, is forgotten.
type Served struct {
	mu    sync.Mutex
	known map[Key]*serving
	order []*serving
}

type serving struct {
	keys     []Key
	worker   Worker
	at       event.Kind
	decision event.Decision
	tool     string
	beside   string
	gone     bool
}

// keepServed bounds how many answers are remembered.
const keepServed = 1024

// Keep remembers the answer given at an event.
func (s *Served) Keep(ev *event.Event, d event.Decision) {
	keys := Keys(ev)
	if len(keys) == 0 || !ev.Kind.Guarded() {
		return
	}
	one := &serving{keys: keys, worker: WorkerOf(ev), at: ev.Kind, decision: d, tool: ev.Tool.Name, beside: Beside(ev.Tool)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[Key]*serving{}
	}
	for _, k := range keys {
		s.drop(s.known[k])
		s.known[k] = one
	}
	s.order = append(s.order, one)
	if len(s.order) > keepServed {
		s.drop(s.order[0])
		s.order = s.order[1:]
	}
}

// Take gives the answer that serves this event, and forgets it.
func (s *Served) Take(ev *event.Event) (event.Decision, bool) { return s.serve(ev, true) }

// Peek is what Take would give.
func (s *Served) Peek(ev *event.Event) (event.Decision, bool) { return s.serve(ev, false) }

func (s *Served) serve(ev *event.Event, use bool) (event.Decision, bool) {
	if !ev.Kind.Guarded() || ev.Tool == nil {
		return event.Decision{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) == 0 {
		return event.Decision{}, false
	}
	one := s.find(ev)
	if one == nil {
		return event.Decision{}, false
	}
	if use {
		s.drop(one)
	}
	if one.at == ev.Kind {
		return event.Decision{}, false // the same kind again is the next call
	}
	// The same words outside of a sandbox, say, are not what was answered. Where
	// an agent tells of one call in two shapes there is nothing to compare.
	if one.decision.Verdict != event.Deny && one.tool == ev.Tool.Name && one.beside != Beside(ev.Tool) {
		return event.Decision{}, false
	}
	return one.decision, true
}

// See forgets what an event shows to be over.
func (s *Served) See(ev *event.Event) {
	switch ev.Kind {
	case event.ToolBefore, event.PermissionRequest, event.ToolAfter, event.PermissionResolved, event.TurnStart, event.TurnEnd, event.SessionStart, event.SessionEnd, event.SubagentEnd:
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) == 0 {
		return
	}
	switch ev.Kind {
	case event.ToolBefore, event.PermissionRequest:
		if one := s.find(ev); one != nil && one.at == ev.Kind {
			s.drop(one) // the same kind again is the next call
		}
		return
	case event.ToolAfter, event.PermissionResolved:
		s.drop(s.find(ev))
		return
	}
	w := WorkerOf(ev)
	whole := ev.Kind != event.SubagentEnd && w.Sub == ""
	for _, one := range s.order {
		if one.worker == w || whole && one.worker.Agent == w.Agent && one.worker.Session == w.Session {
			s.drop(one)
		}
	}
}

func (s *Served) find(ev *event.Event) *serving {
	for _, k := range Keys(ev) {
		if one := s.known[k]; one != nil && !one.gone {
			return one
		}
	}
	return nil
}

func (s *Served) drop(one *serving) {
	if one == nil || one.gone {
		return
	}
	one.gone = true
	for _, k := range one.keys {
		if s.known[k] == one {
			delete(s.known, k)
		}
	}
}
