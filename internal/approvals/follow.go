package approvals

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/wire"
)

// followRequests reports every request that waits, in the inbox or at an agent's own prompt,
// and how it ends, without secrets, until ctx ends.
func followRequests(ctx context.Context, requests *queue.Table, each func(note string, item wire.InboxRequest)) {
	items, next := requests.Watch()
	known := map[string]bool{}
	for i := range items {
		known[items[i].ID] = true
		each(wire.NoteInboxReceived, withoutSecrets(items[i]))
	}
	for {
		changes, after, wake, ok := requests.Next(next)
		if !ok {
			after = catchUp(requests, known, each)
		}
		next = after
		for _, c := range changes {
			if c.Note == wire.NoteInboxReceived {
				known[c.Item.ID] = true
			} else if c.Note != wire.NoteInboxPrompt {
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

// catchUp sends a reader that fell behind what it missed: what no longer waits, and what
// waits now.
func catchUp(requests *queue.Table, known map[string]bool, each func(note string, item wire.InboxRequest)) int64 {
	items, next := requests.Watch()
	waiting := map[string]bool{}
	for i := range items {
		waiting[items[i].ID] = true
		if !known[items[i].ID] {
			known[items[i].ID] = true
			each(wire.NoteInboxReceived, withoutSecrets(items[i]))
		}
	}
	for id := range known {
		if host, _ := wire.SplitHost(id); host != "" {
			continue // what became of it is told again when it ends there
		}
		if !waiting[id] {
			delete(known, id)
			each(wire.NoteInboxWithdrawn, wire.InboxRequest{ID: id})
		}
	}
	return next
}

// withoutSecrets returns a request as those see it who cannot answer it.
func withoutSecrets(item wire.InboxRequest) wire.InboxRequest {
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
	item.NoRule, item.Note, item.Effect = redact.Text(item.NoRule), redact.Text(item.Note), redact.Text(item.Effect)
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
