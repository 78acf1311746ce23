package approvals

import (
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// Stream sends what waits, then every change, until ctx ends or send fails.
// While somebody who may answer listens, requests are held for them. id is that
// of the request which began the stream; with windows it is also told what stands
// in agents' own windows.
func (s *Service) Stream(ctx context.Context, id json.RawMessage, windows bool, peer proc.Cred,
	send func([]byte) bool) {
	attached, why := s.MayAnswer(peer)
	lags := false
	ready := wire.InboxReady{Away: s.attendance.isAway(), Attached: attached}
	if !attached {
		ready.Why = why
	} else {
		s.attendance.surfaces.Add(1)
		s.lengthenBriefHolds()
		defer s.attendance.surfaceLeft()
		end := s.attendance.watchers.arrived(peer)
		defer func() { end(lags) }()
	}
	items, next := s.queue.Watch()
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
			out = append(out, queue.NoteLine(wire.NoteInboxWindow, item)...)
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
				if !windows && (c.Note == wire.NoteInboxWindow || c.Note == wire.NoteInboxWindowOver) {
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
