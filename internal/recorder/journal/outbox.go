package journal

import (
	"context"
	"strings"
)

// The outbox names the events that something outside doesn't have yet, or not with their
// newest outcome. An event is put into it by the transaction that stores it or its
// outcome, so that no crash parts the two, and taken out once it has arrived.

// Queued is one row of the outbox. Event is nil where the journal no longer has it.
type Queued struct {
	Seq   int64
	ID    string
	Event *Stored
}

// fillOutbox puts new events and outcomes of a batch into the outbox.
func (w *writer) fillOutbox(batch []Item, cursors []int64) error {
	for i := range batch {
		id := ""
		switch {
		case batch[i].Outcome != nil:
			id = batch[i].Outcome.ID
		case cursors[i] != 0:
			id = batch[i].Row.ID
		}
		if id == "" {
			continue
		}
		w.putOutbox.args[0].Value = id
		if _, err := w.putOutbox.runStatement(); err != nil {
			return err
		}
	}
	return nil
}

// Outbox reads the oldest rows of the outbox, at most limit, with their events as they
// are now. An event that is in it several times is returned with the first of them; the
// others have no event and are not counted by anybody.
func (j *Journal) Outbox(ctx context.Context, limit int) (list []Queued, missing int, err error) {
	db, err := j.readPool()
	if err != nil {
		return nil, 0, j.explainError(err)
	}
	rows, err := db.QueryContext(ctx, "SELECT seq, id FROM outbox ORDER BY seq LIMIT ?", min(limit, MaxCursors))
	if err != nil {
		return nil, 0, j.explainError(err)
	}
	defer rows.Close()
	first := map[string]int{}
	var ids []any
	for rows.Next() {
		var q Queued
		if err := rows.Scan(&q.Seq, &q.ID); err != nil {
			return nil, 0, j.explainError(err)
		}
		if _, twice := first[q.ID]; !twice {
			first[q.ID] = len(list)
			ids = append(ids, q.ID)
		}
		list = append(list, q)
	}
	if err := rows.Err(); err != nil || len(list) == 0 {
		return nil, 0, j.explainError(err)
	}
	_ = rows.Close() // read to its end
	where := " AND e.id IN (?" + strings.Repeat(",?", len(ids)-1) + ")"
	found := 0
	for s := (span{0, j.newest.Load()}); ; {
		page, more, err := j.readPage(ctx, s, where, ids, len(ids), false)
		if err != nil {
			return nil, 0, err
		}
		for i := range page {
			list[first[page[i].ID]].Event = &page[i]
			found++
		}
		if !more || len(page) == 0 {
			break
		}
		s.first = page[len(page)-1].Cursor + 1
	}
	return list, len(ids) - found, nil
}

// TrimOutbox takes everything up to seq out of the outbox.
func (j *Journal) TrimOutbox(seq int64) error {
	return j.withOutbox(func(w *writer) error { return w.execQuery("DELETE FROM outbox WHERE seq <= ?", seq) })
}

func (j *Journal) withOutbox(do func(*writer) error) error {
	j.write.Lock()
	defer j.write.Unlock()
	switch {
	case j.closed.Load():
		return ErrClosed
	case j.writer == nil:
		return errNotOpen
	}
	return j.explainError(j.writer.inTransaction(func() error { return do(j.writer) }))
}

// OutboxSize returns how many rows the outbox has, and its last seq.
func (j *Journal) OutboxSize(ctx context.Context) (rows, last int64, err error) {
	db, err := j.readPool()
	if err != nil {
		return 0, 0, j.explainError(err)
	}
	// It is filled at one end and emptied at the other, so its ends say how long it is.
	err = db.QueryRowContext(ctx, "SELECT coalesce((SELECT max(seq) FROM outbox) - (SELECT min(seq) FROM outbox) + 1, 0), "+
		"coalesce((SELECT max(seq) FROM outbox), 0)").Scan(&rows, &last)
	return rows, last, j.explainError(err)
}
