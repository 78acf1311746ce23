package approvals

import (
	"encoding/json"
	"slices"

	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/wire"
)

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
