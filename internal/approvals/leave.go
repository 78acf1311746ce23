package approvals

import (
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/queue"
)

// surfaceLeft notes that somebody follows the requests no more. When nobody is
// there a moment later, what keeps an agent from its own prompt is let go.
func (s *Service) surfaceLeft() {
	if s.attendance.surfaces.Add(-1) > 0 || s.attendance.anyoneThere() || s.queue.Waiting() == 0 {
		return
	}
	time.AfterFunc(s.attendance.watchers.graceTime(), func() { letGo(s) })
}

// letGo lets go what keeps an agent from its own prompt, when nobody is there.
func letGo(s *Service) {
	if !s.attendance.anyoneThere() && !s.Stopping() {
		s.queue.Drop(func(r *queue.Request) bool { return onlyWaits(s.Catalogue, r) }, queue.Abandoned)
	}
}

// onlyWaits reports whether an agent can do nothing but wait for a request.
// Where its own dialog is up, whoever sits there answers, and who comes back to
// the requests still finds it. What waits before its call where nobody is asked
// afterwards would run: leaving is no yes. What a program pushed waits as long
// as the program said.
func onlyWaits(catalogue *agent.Catalogue, r *queue.Request) bool {
	a, ok := catalogue.Agent(r.Event.Agent)
	if !ok || a.Feed == nil || a.Feed.Promptless || r.Pushed {
		return false
	}
	if r.Event.Attended == event.AttendedNo {
		return r.Event.Kind != event.ToolBefore
	}
	return a.Feed.HoldAt(r.Event.Native) != agent.HoldDeadline
}
