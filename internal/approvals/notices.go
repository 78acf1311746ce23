package approvals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/wire"
)

// Notices is approvals as those see it who tell a person of requests.
type Notices struct {
	service *Service
	queue   *queue.Table
}

// NewNotices gives that view of a service.
func NewNotices(s *Service) Notices { return Notices{s, s.queue} }

// Follow tells of every request that waits, held here or standing in an agent's own
// window, and of what becomes of it, without secrets, until ctx ends.
func (n Notices) Follow(ctx context.Context, each func(note string, item wire.FeedItem)) {
	requests := n.queue
	items, next := requests.Watch()
	known := map[string]bool{}
	for i := range items {
		known[items[i].ID] = true
		each(wire.NoteFeedReceived, withoutSecrets(items[i]))
	}
	for {
		changes, after, wake, ok := requests.Next(next)
		if !ok {
			after = catchUp(requests, known, each)
		}
		next = after
		for _, c := range changes {
			if c.Note == wire.NoteFeedReceived {
				known[c.Item.ID] = true
			} else if c.Note != wire.NoteFeedWindow {
				delete(known, c.Item.ID)
			}
			each(c.Note, withoutSecrets(c.Item))
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

// catchUp tells what was missed by who fell behind: what waits no more, and what
// waits now.
func catchUp(requests *queue.Table, known map[string]bool, each func(note string, item wire.FeedItem)) int64 {
	items, next := requests.Watch()
	waiting := map[string]bool{}
	for i := range items {
		waiting[items[i].ID] = true
		if !known[items[i].ID] {
			known[items[i].ID] = true
			each(wire.NoteFeedReceived, withoutSecrets(items[i]))
		}
	}
	for id := range known {
		if !waiting[id] {
			delete(known, id)
			each(wire.NoteFeedWithdrawn, wire.FeedItem{ID: id})
		}
	}
	return next
}

// buttonName is who denies by a button: it may have been any program of the user.
const buttonName = "the button of a notification"

// DenyByButton says no to a request whose card was shown with a button. Any program
// of the user can press one, so that it says no and never yes.
func (n Notices) DenyByButton(id, sha256 string) error {
	s := n.service
	r, waits := s.queue.Request(id)
	if !waits {
		return nil
	}
	if r.Hash != sha256 {
		return errors.New("the request is another one by now")
	}
	p := wire.FeedReplyParams{ID: id, Choice: string(event.ChooseDeny)}
	said, _, bad := readAnswer(&r, &p)
	if bad != nil {
		return bad
	}
	if said.Verdict != event.Deny {
		return fmt.Errorf("a button cannot say %s", said.Verdict.Word())
	}
	said.By, said.At = buttonName, time.Now()
	if _, bad := s.deliver(id, said, nil); bad != nil {
		return bad
	}
	return nil
}
