package approvals

import (
	"time"

	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/wire"
)

// Info returns what status says about requests.
func (s *Service) Info() wire.InboxInfo {
	prompts := 0
	for _, item := range s.Sessions.Waiting() {
		if item.Status == wire.InboxPrompt {
			prompts++
		}
	}
	return wire.InboxInfo{Waiting: s.queue.Waiting() + len(s.waitingElsewhere(false)), Prompts: prompts, CanAnyoneAnswer: s.attendance.anyoneThere(),
		Away: s.attendance.isAway()}
}

// CanAnyoneAnswer reports whether someone could answer now.
func (s *Service) CanAnyoneAnswer() bool { return s.attendance.anyoneThere() }

// SetGrace changes how long those who follow requests may be gone before they
// count as gone.
func (s *Service) SetGrace(span time.Duration) { s.attendance.watchers.setGrace(span) }

// AddSink adds or removes a way in which a program that runs the daemon inside itself shows
// requests to its user. The setting notify.command is another.
func (s *Service) AddSink(change int32) { s.attendance.sinks.Add(change) }

// Following returns how many open streams of requests belong to someone who may answer.
func (s *Service) Following() int { return int(s.attendance.surfaces.Load()) }

// Pushed returns how many requests wait that programs pushed.
func (s *Service) Pushed() int { return s.queue.Pushed() }

// Request gives what a pending request was opened with.
func (s *Service) Request(id string) (queue.Request, bool) { return s.queue.Request(id) }

// RequestByKey returns the id of the request that a program knows by a key of its
// own; none when several wait under it.
func (s *Service) RequestByKey(key string) (string, bool) { return s.queue.ByKey(key) }

// RequestKey returns the key that a program knows a request by; "" for none.
func (s *Service) RequestKey(id string) string { return s.queue.KeyOf(id) }

// AddPermission adds a standing yes.
func (s *Service) AddPermission(g policy.SavedPermission) (policy.SavedPermission, error) {
	return s.permissions.Add(g)
}
