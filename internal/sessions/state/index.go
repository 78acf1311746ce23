package state

import "github.com/hookmux/hookmux/event"

// sessionIndex finds sessions by something other than their key.
type sessionIndex struct {
	children  map[Key]Key                // a subagent's own session → the session it works for
	terminals map[string]Key             // by the id of a terminal
	processes map[processID]map[Key]bool // who runs in a process

	unprompted map[Key]bool // agents that were only seen to be open
}

// processID names one process for ever.
type processID struct {
	pid   int
	start uint64
}

func newSessionIndex() sessionIndex {
	return sessionIndex{children: map[Key]Key{}, terminals: map[string]Key{}, processes: map[processID]map[Key]bool{},
		unprompted: map[Key]bool{}}
}

// replaceEntry makes the index know s in place of old, which may be nil.
func (x *sessionIndex) replaceEntry(old, s *Session) {
	if was, is := processOf(old), processOf(s); was != is {
		x.unlinkProcess(was, s.Key)
		if is.pid != 0 {
			if x.processes[is] == nil {
				x.processes[is] = map[Key]bool{}
			}
			x.processes[is][s.Key] = true
		}
	}
	if s.Terminal != "" {
		x.terminals[s.Terminal] = s.Key
	}
	if s.Unprompted {
		x.unprompted[s.Key] = true
	} else {
		delete(x.unprompted, s.Key)
	}
	x.indexSubagents(old, s)
}

// indexSubagents keeps which subagent works for which session. Lists are only
// ever replaced, so the same memory is the same list.
func (x *sessionIndex) indexSubagents(old, s *Session) {
	var was []Subagent
	if old != nil {
		was = old.Subagents
	}
	if len(was) == len(s.Subagents) && (len(was) == 0 || &was[0] == &s.Subagents[0]) {
		return
	}
	x.dropSubagents(s.Key, was)
	for i := range s.Subagents {
		if id := s.Subagents[i].ID; id != "" && id != s.ID {
			x.children[Key{s.Agent, id}] = s.Key
		}
	}
}

func (x *sessionIndex) dropSubagents(key Key, list []Subagent) {
	for i := range list {
		if child := (Key{key.Agent, list[i].ID}); x.children[child] == key {
			delete(x.children, child)
		}
	}
}

func (x *sessionIndex) unlinkProcess(p processID, key Key) {
	if set := x.processes[p]; set != nil {
		if delete(set, key); len(set) == 0 {
			delete(x.processes, p)
		}
	}
}

// removeEntry makes the index forget a session.
func (x *sessionIndex) removeEntry(s *Session) {
	x.unlinkProcess(processOf(s), s.Key)
	delete(x.unprompted, s.Key)
	x.dropSubagents(s.Key, s.Subagents)
	if x.terminals[s.Terminal] == s.Key {
		delete(x.terminals, s.Terminal)
	}
}

// processOf returns the process a living session runs in.
func processOf(s *Session) processID {
	if s == nil || !s.Live() {
		return processID{}
	}
	return processAt(&s.Place)
}

// processAt returns the agent's process, or the terminal's first one where that is not
// known.
func processAt(place *event.Place) processID {
	if place.PID <= 0 && !place.Shared {
		return processID{place.Holder, place.HolderStart}
	}
	return processID{place.PID, place.Start}
}
