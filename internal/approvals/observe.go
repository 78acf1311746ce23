package approvals

import "github.com/hookmux/hookmux/event"

// Observe takes an event as a sign for requests that wait or were answered. It
// is on the way of every event, and nearly always there is nothing to see.
func (s *Service) Observe(ev *event.Event) {
	s.answered.Observe(ev)
	s.notes.Observe(ev)
	a, _ := s.Catalogue.Agent(ev.Agent)
	answered := ""
	if a != nil {
		answered = a.Feed.AnsweredBy(ev)
	}
	s.queue.See(ev, answered)
	if ev.Kind == event.SessionEnd {
		if err := s.grants.EndSession(ev.Agent, ev.Session); err != nil {
			s.Log.Warn("grants of an ended session could not be taken off the disk", "error", err)
		}
	}
}
