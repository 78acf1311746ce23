package member

import (
	"context"
	"testing"
)

// fullOutbox has more than may wait for the fleet.
type fullOutbox struct {
	Outbox
	rows, last int64
}

func (o *fullOutbox) OutboxSize(context.Context) (rows, last int64, err error) {
	return o.rows, o.last, nil
}

func (o *fullOutbox) TrimOutbox(seq int64) error {
	o.rows = o.last - seq
	return nil
}

// While the fleet is away, no more events wait for it than a million: the oldest go, and
// the status says how many wait, how many may, and how many went.
func TestBacklogIsBoundedAndShown(t *testing.T) {
	o := &fullOutbox{rows: maxBacklog + 500, last: 3 * maxBacklog}
	s := &Service{Options: Options{Outbox: o, Content: func() bool { return true }}}
	r := &run{service: s, membership: &membership{}}
	s.running.Store(r)
	for range 2 { // the second time there's nothing to drop
		r.boundBacklog(t.Context())
		if got := s.status(t.Context()); got.Backlog != maxBacklog || got.Dropped != 500 || got.Most != maxBacklog {
			t.Fatalf("%d wait of at most %d, %d dropped; want %d, %d and 500", got.Backlog, got.Most, got.Dropped, maxBacklog, maxBacklog)
		}
	}
}
