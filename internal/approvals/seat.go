package approvals

import (
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// PIN is the one that approvals ask for.
func (s *Service) PIN() *ledger.PIN { return s.pin }

// CheckPIN compares a PIN that came with an answer to a request, and notes a
// wrong one.
func (s *Service) CheckPIN(id, pin string, peer proc.Cred) error {
	err := s.pin.Check(pin)
	if err != nil && pin != "" {
		s.noteWrongPIN(id, peer, err)
	}
	return err
}

// RequestTime is when a request came up; zero when there is none by this id.
func (s *Service) RequestTime(id string) time.Time {
	item, err := s.queue.Find(id)
	if err != nil {
		return time.Time{}
	}
	return item.CreatedAt
}

// noteWrongPIN lets the person learn of a wrong PIN.
func (s *Service) noteWrongPIN(id string, peer proc.Cred, why error) {
	s.Log.Warn("wrong PIN", "request", id, "pid", peer.PID, "why", why)
	s.Recorder.RecordOwn("refused", frame.NewID(), time.Now(),
		map[string]any{"method": wire.MethodFeedReply, "pid": peer.PID, "reason": why.Error()})
	s.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: "hookmux", Text: "a wrong PIN was given for request " + id})
}
