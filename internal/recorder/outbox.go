package recorder

import (
	"context"

	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// OutboxPage reads the oldest rows of the journal's outbox, and says how many of their
// events are gone.
func (r *Reader) OutboxPage(ctx context.Context, limit int) ([]journal.Queued, int, error) {
	if j := r.journal.Load(); j != nil {
		return j.Outbox(ctx, limit)
	}
	return nil, 0, ErrNoJournal
}

// TrimOutbox takes everything up to seq out of the outbox.
func (r *Reader) TrimOutbox(seq int64) error {
	if j := r.journal.Load(); j != nil {
		return j.TrimOutbox(seq)
	}
	return ErrNoJournal
}

// OutboxSize returns how many rows the outbox has, and its last seq.
func (r *Reader) OutboxSize(ctx context.Context) (rows, last int64, err error) {
	if j := r.journal.Load(); j != nil {
		return j.OutboxSize(ctx)
	}
	return 0, 0, ErrNoJournal
}
