package approvals

import (
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/wire"
)

// Info is what status says about requests.
func (s *Service) Info() wire.FeedInfo {
	windows := 0
	for _, item := range s.Sessions.Waiting() {
		if item.Status == wire.FeedWindow {
			windows++
		}
	}
	return wire.FeedInfo{Waiting: s.queue.Waiting(), Windows: windows, Someone: s.attendance.anyoneThere(),
		Away: s.attendance.isAway()}
}

// CanAnyoneAnswer reports whether a person could answer now.
func (s *Service) CanAnyoneAnswer() bool { return s.attendance.anyoneThere() }

// SetGrace changes how long those who follow requests may be gone before they
// count as gone.
func (s *Service) SetGrace(span time.Duration) { s.attendance.watchers.setGrace(span) }

// AddSink counts one more or one less way by which a person hears of requests
// who runs the hub inside their own program. The setting feed.push is another.
func (s *Service) AddSink(change int32) { s.attendance.sinks.Add(change) }

// Following is how many streams of requests somebody looks at who may answer.
func (s *Service) Following() int { return int(s.attendance.surfaces.Load()) }

// Pushed is how many requests wait that programs pushed.
func (s *Service) Pushed() int { return s.queue.Pushed() }

// Request gives what a pending request was opened with.
func (s *Service) Request(id string) (queue.Request, bool) { return s.queue.Request(id) }

// RequestByKey is the id of the request that a program knows by a key of its
// own; none when several wait under it.
func (s *Service) RequestByKey(key string) (string, bool) { return s.queue.ByKey(key) }

// RequestKey is the key that a program knows a request by; "" for none.
func (s *Service) RequestKey(id string) string { return s.queue.KeyOf(id) }

// AddGrant adds a standing yes.
func (s *Service) AddGrant(g policy.Grant) (policy.Grant, error) { return s.grants.Add(g) }

// surfaceLeft notes that somebody follows the requests no more. When nobody is
// there a moment later, what keeps an agent from its own prompt is let go.
func (s *Service) surfaceLeft() {
	if s.attendance.surfaces.Add(-1) > 0 || s.attendance.anyoneThere() || s.queue.Waiting() == 0 {
		return
	}
	s.Background.After(s.Context, s.attendance.watchers.graceTime(), func() { abandonIfAlone(s) })
}

// abandonIfAlone ends the requests that keep an agent from its own prompt, when nobody
// could answer.
func abandonIfAlone(s *Service) {
	if !s.attendance.anyoneThere() && !s.Stopping() {
		s.queue.Drop(func(r *queue.Request) bool { return isBlockingAgent(s.Catalogue, r) }, queue.Abandoned)
	}
}

// isBlockingAgent reports whether an agent can do nothing but wait for a request.
// It is false in three cases:
//   - The agent's own dialog is open: whoever sits there answers, and the request
//     is still there for somebody who comes back.
//   - The call would run without being asked about again: leaving is no yes.
//   - A program pushed the request: it waits as long as the program said.
func isBlockingAgent(catalogue *agent.Catalogue, r *queue.Request) bool {
	a, ok := catalogue.Agent(r.Event.Agent)
	if !ok || a.Feed == nil || a.Feed.Promptless || r.Pushed {
		return false
	}
	if r.Event.Attended == event.AttendedNo {
		return r.Event.Kind != event.ToolBefore
	}
	return a.Feed.HoldAt(r.Event.Native) != agent.HoldDeadline
}
