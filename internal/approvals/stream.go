package approvals

import (
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// Stream sends what waits, then every change, until ctx ends or send fails. While someone
// who may answer listens, requests wait for them. id is that of the request that started
// the stream; with windows it also sends requests at agents' own prompts.
func (s *Service) Stream(ctx context.Context, id json.RawMessage, windows bool, peer proc.Cred,
	send func([]byte) bool) {
	attached, why := s.MayAnswer(peer)
	lags := false
	ready := wire.InboxReady{Away: s.attendance.isAway(), Attached: attached}
	if !attached {
		ready.Why = why
	} else {
		defer s.Watch()()
		end := s.attendance.watchers.arrived(peer)
		defer func() { end(lags) }()
	}
	items, next := s.queue.Watch()
	items = append(items, s.waitingElsewhere(false)...)
	result, _ := json.Marshal(map[string]bool{"ok": true, "attached": attached})
	out, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: id, Result: result})
	for i := range items {
		if !attached {
			items[i] = withoutSecrets(items[i])
		}
		out = append(out, queue.NoteLine(wire.NoteInboxReceived, items[i])...)
	}
	if windows {
		for _, item := range s.windows.listItems(s.Sessions.Waiting) {
			out = append(out, queue.NoteLine(wire.NoteInboxPrompt, item)...)
		}
		for _, item := range s.waitingElsewhere(true) {
			if item.Status == wire.InboxPrompt {
				out = append(out, queue.NoteLine(wire.NoteInboxPrompt, item)...)
			}
		}
	}
	out = append(out, queue.NoteLine(wire.NoteInboxReady, ready)...)
	for send(out) {
		changes, after, wake, ok := s.queue.Next(next)
		if lags = !ok; lags {
			return // it lags too far behind; it comes back and begins anew
		}
		next = after
		if len(changes) > 0 {
			out = out[:0]
			for _, c := range changes {
				if !windows && (c.Note == wire.NoteInboxPrompt || c.Note == wire.NoteInboxPromptOver) {
					continue
				}
				if attached {
					out = append(out, c.Line()...)
				} else {
					out = append(out, queue.NoteLine(c.Note, withoutSecrets(c.Item))...)
				}
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		out = out[:0]
	}
}

// Watch notes that someone who may answer looks at the requests, until left is called:
// agents wait longer for them.
func (s *Service) Watch() (left func()) {
	s.attendance.surfaces.Add(1)
	s.lengthenBriefWaits()
	return s.attendance.surfaceLeft
}

// FollowInFull gives every change of what waits, in the inbox or at an agent's own
// window, as a line of a stream, until ctx ends or each returns false; the first
// call, without a line, says that nothing is missed from now on. Nothing is left out: it's
// for devices that decide.
func (s *Service) FollowInFull(ctx context.Context, each func(note string, line []byte) bool) {
	_, next := s.queue.Watch()
	if !each("", nil) {
		return
	}
	for {
		changes, after, wake, ok := s.queue.Next(next)
		if !ok {
			return
		}
		next = after
		for _, c := range changes {
			if !each(c.Note, c.Line()) {
				return
			}
		}
		if len(changes) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
	}
}

// WaitingInFull returns everything that waits for you, with nothing left out.
func (s *Service) WaitingInFull() []wire.InboxRequest {
	return append(joinWaiting(s.Sessions.Waiting(), s.queue.Items(false)), s.waitingElsewhere(true)...)
}
