package hub

import (
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/queue"
)

// left: somebody follows the feed no more. When nobody is there a moment later,
// what keeps an agent from its own prompt is let go.
func (d *desk) left() {
	if d.surfaces.Add(-1) > 0 || d.someone() || d.table.Waiting() == 0 {
		return
	}
	time.AfterFunc(d.grace, func() {
		if !d.someone() && !d.hub.stopping.Load() {
			d.table.Drop(d.keepsWaiting, queue.Abandoned)
		}
	})
}

// keepsWaiting reports whether an agent can do nothing but wait for a request.
// Where its own dialog is up, whoever sits there answers, and who comes back to
// the feed still finds it. What waits before its call where nobody is asked
// afterwards would run: leaving is no yes. What a program pushed waits as long
// as the program said.
func (d *desk) keepsWaiting(r *queue.Request) bool {
	a, ok := d.deps.Catalogue.Agent(r.Event.Agent)
	if !ok || a.Feed == nil || a.Feed.Promptless || r.Pushed {
		return false
	}
	if r.Event.Attended == event.AttendedNo {
		return r.Event.Kind != event.ToolBefore
	}
	return a.Feed.HoldAt(r.Event.Native) != agent.HoldDeadline
}
