package state

import (
	"strconv"
	"time"

	"github.com/hookmux/hookmux/event"
)

// Waiting is one thing of a session that waits for you.
type Waiting struct {
	ID      string // of the request, or of the question at the agent's own prompt
	InInbox bool   // hookmux holds it; else it stands at the agent's own prompt
	At      time.Time
	What    string // in words
	Tool    string
	Kind    event.ToolKind
	// Actor is the subagent that asks; "" for the agent itself.
	Actor string
	Whole string // the whole command that is asked about, where it is known
	Event string // the event that asked, unless hookmux has kept it waiting already
}

// WaitingList returns everything of a session that waits for you: requests in the inbox, and
// those that only the agent's own prompt shows. Nothing of a session that has ended waits.
func (s *Session) WaitingList() []Waiting {
	if !s.Live() {
		return nil
	}
	var list []Waiting
	for i := range s.Requests {
		h := &s.Requests[i]
		list = append(list, Waiting{ID: h.ID, InInbox: true, At: h.At, What: h.What})
	}
	for i := range s.Asks {
		if ask := &s.Asks[i]; !s.isInInbox(ask) {
			one := Waiting{ID: ask.idIn(s.ID), At: ask.At, What: ask.inWords(), Tool: ask.Tool,
				Kind: ask.Kind, Actor: ask.Actor, Whole: ask.Whole}
			if ask.Request == "" {
				one.Event = ask.Event
			}
			list = append(list, one)
		}
	}
	return list
}

// AskedBy reports whether an event asked something that is still open.
func (s *Session) AskedBy(event string) bool {
	for i := range s.Asks {
		if s.Asks[i].Event == event {
			return true
		}
	}
	return false
}

// idIn names a question at the agent's own prompt: by the request it was, else
// by the session and a number.
func (a *Ask) idIn(session string) string {
	if a.Request != "" {
		return a.Request
	}
	return session + "." + strconv.Itoa(a.N)
}

// deriveStatus sets the shown status: an open question overrides the base status.
func (s *Session) deriveStatus() {
	status, since := s.Machine.Base, s.Machine.BaseSince
	s.WaitingSince = time.Time{}
	for _, one := range s.WaitingList() {
		if s.WaitingSince.IsZero() || one.At.Before(s.WaitingSince) {
			status, since, s.WaitingSince = WaitingForYou, one.At, one.At
		}
	}
	s.Status, s.Since = status, since
	s.Tool = s.Machine.currentActivity(s.Turn, s.Terminal != "", s.Background)
}
