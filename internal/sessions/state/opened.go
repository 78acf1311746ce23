package state

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// Opened records that an agent is open in a process that hasn't reported anything yet: it's
// listed as a session of its own until it reports one. If a session already runs there,
// nothing changes.
func (b *Sessions) Opened(agent string, at event.Place, cwd string, since time.Time) Change {
	key := Key{agent, fallbackID(&event.Event{Where: at})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessions[key] != nil {
		return Change{Key: key}
	}
	for _, one := range b.sessions {
		if one.runsAt(agent, &at, cwd) || one.Unprompted && one.Agent == agent && one.Place.TTY == at.TTY {
			return Change{Key: key}
		}
	}
	next := newSession(key, since)
	next.Unprompted, next.Place, next.Cwd, next.LastEvent = true, at, cwd, since
	next.Machine.setBase(Idle, since)
	c := Change{Key: key}
	b.commitChange(nil, next, &c)
	return c
}

// Reported forgets that an agent was only seen to be open, once a session is known that
// runs there.
func (b *Sessions) Reported(key Key) []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.sessions[key]
	if len(b.index.unprompted) == 0 || one == nil || one.Unprompted {
		return nil
	}
	var gone []Change
	for open := range b.index.unprompted {
		s := b.sessions[open]
		if one.runsAt(s.Agent, &s.Place, s.Cwd) {
			gone = append(gone, b.dropUnprompted(s))
		}
	}
	return gone
}

func (b *Sessions) dropUnprompted(s *Session) Change {
	b.dropSession(s.Key)
	return Change{Key: s.Key, From: s.Status, To: NeverRan, Gone: true}
}

// runsAt reports whether this is a session of an agent in the process, or at the terminal,
// of a place. A session whose terminal isn't known yet may be the one in that folder.
func (s *Session) runsAt(agent string, at *event.Place, cwd string) bool {
	switch {
	case s.Agent != agent || !s.Live() || s.Unprompted:
		return false
	case s.Place.PID == at.PID && s.Place.Start == at.Start:
		return true
	case s.Place.TTY != "":
		return s.Place.TTY == at.TTY
	}
	return s.Place.Shared && s.Place.Pane == "" && s.Cwd == cwd
}
