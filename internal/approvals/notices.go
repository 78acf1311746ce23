package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/recorder/redact"
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

// withoutSecrets is a request as those see it who cannot answer it.
func withoutSecrets(item wire.FeedItem) wire.FeedItem {
	item.Shown, item.Plan, item.Why, item.Rule = redact.Text(item.Shown), redact.Text(item.Plan),
		redact.Text(item.Why), redact.Text(item.Rule)
	if len(item.Input) > 0 {
		item.Input, _ = redact.AppendJSON(nil, item.Input, redact.Limits{})
	}
	suggestions := make([]json.RawMessage, 0, len(item.Suggestions))
	for _, s := range item.Suggestions {
		clean, _ := redact.AppendJSON(nil, s, redact.Limits{})
		suggestions = append(suggestions, clean)
	}
	item.Suggestions = suggestions
	item.NoRule, item.Note = redact.Text(item.NoRule), redact.Text(item.Note)
	item.Questions = slices.Clone(item.Questions)
	for i := range item.Questions {
		q := &item.Questions[i]
		q.Text, q.Header, q.Options = redact.Text(q.Text), redact.Text(q.Header), slices.Clone(q.Options)
		for n := range q.Options {
			o := &q.Options[n]
			o.Label, o.Description, o.Value = redact.Text(o.Label), redact.Text(o.Description), redact.Text(o.Value)
		}
	}
	if d := item.Decision; d != nil {
		clean := *d
		clean.Reason, clean.Note, clean.Feedback, clean.Answers = redact.Text(d.Reason), redact.Text(d.Note),
			redact.Text(d.Feedback), nil
		item.Decision = &clean
	}
	return item
}
