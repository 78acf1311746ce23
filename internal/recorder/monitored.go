package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// LogOnlyCalls reads what only logged hooks would have done since a moment, the
// newest first.
func (r *Reader) LogOnlyCalls(ctx context.Context, since time.Time, limit int, each func(wire.LogOnlyCall)) error {
	filter := journal.Filter{Since: since, LogOnly: true, Newest: true, Limit: limit}
	return r.EachOutcome(ctx, filter, func(s *journal.Stored, outcome *wire.Outcome) {
		for _, step := range outcome.Steps {
			if step.Would != nil {
				each(wire.LogOnlyCall{
					ID: s.ID, Time: s.Time, Agent: s.Agent, Tool: s.Tool, Hook: step.Hook, Would: *step.Would,
				})
			}
		}
	})
}

// EachOutcome reads stored events with what came of them, once the journal holds
// what earlier daemons left. Events without an outcome are passed over.
func (r *Reader) EachOutcome(ctx context.Context, filter journal.Filter,
	each func(s *journal.Stored, outcome *wire.Outcome)) error {
	select {
	case <-r.CaughtUp():
	case <-ctx.Done():
		return errors.New("the journal is still being filled")
	}
	for s, err := range r.Stored(ctx, filter) {
		if err != nil {
			return err
		}
		var outcome wire.Outcome
		if s.Outcome != nil && json.Unmarshal(s.Outcome.Decision, &outcome) == nil {
			each(&s, &outcome)
		}
	}
	return nil
}
