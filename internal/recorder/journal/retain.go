package journal

import (
	"database/sql/driver"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// deleteRows and vacuumPages bound what is done at a time while writing
	// has to wait.
	deleteRows  = 500
	vacuumPages = 256
)

// Retain deletes events older than keep, or older than their agent's own
// entry in perAgent, then the oldest ones until the journal takes up no more
// than maxBytes, and gives the space back. A duration or size of 0 or less is
// no limit. It works in small steps between which events are written.
func (j *Journal) Retain(now time.Time, keep time.Duration, perAgent map[string]time.Duration,
	maxBytes int64) (deleted int, err error) {
	if j.closed.Load() {
		return 0, ErrClosed
	}
	r := retention{j: j}
	r.byAge(now, keep, perAgent)
	r.bySize(maxBytes)
	r.loseOutcomes(now, keep, perAgent)
	r.deleteOrphans()
	return r.deleted, j.explainError(r.err)
}

// RetainShared is Retain for a journal of several owners, whose names precede ids, up to
// mark. If it's too large, an owner that takes up more than twice its part loses its oldest
// events before others lose any; crowders are these owners.
func (j *Journal) RetainShared(now time.Time, keep time.Duration, maxBytes int64, mark string) (crowders []string, err error) {
	if j.closed.Load() {
		return nil, ErrClosed
	}
	r := retention{j: j}
	r.byAge(now, keep, nil)
	crowders = r.byShare(maxBytes, mark)
	r.bySize(maxBytes)
	r.loseOutcomes(now, keep, nil)
	r.deleteOrphans()
	return crowders, j.explainError(r.err)
}

// DropOwner deletes all events whose ids begin with an owner's name and mark.
func (j *Journal) DropOwner(owner, mark string) error {
	r := retention{j: j}
	from, to := ownerRange(owner, mark)
	var oldest int64
	r.withWriter(func(w *writer) (err error) {
		oldest, err = w.queryNumber("SELECT coalesce(min(cursor), 0) FROM events")
		return err
	})
	for newest := j.newest.Load(); oldest <= newest && r.err == nil; oldest += deleteRows {
		r.dropEvents(span{oldest, oldest + deleteRows - 1}, " AND id >= ? AND id < ?", from, to)
	}
	r.deleteOrphans()
	return j.explainError(r.err)
}

// ownerRange returns between what the ids of an owner lie.
func ownerRange(owner, mark string) (from, to string) {
	return owner + mark, owner + mark[:len(mark)-1] + string(mark[len(mark)-1]+1)
}

// Crowders are the owners that take up more than twice their part of a journal, and how
// much of all is beyond their parts.
func Crowders(bytes map[string]int64) (owners []string, beyond float64) {
	var total int64
	for _, n := range bytes {
		total += n
	}
	if len(bytes) < 2 || total == 0 {
		return nil, 0
	}
	part := total / int64(len(bytes))
	for owner, n := range bytes {
		if n > 2*part {
			owners = append(owners, owner)
			beyond += float64(n-part) / float64(total)
		}
	}
	slices.Sort(owners)
	return owners, beyond
}

// retention is one run of Retain; after an error its steps do nothing.
type retention struct {
	j       *Journal
	deleted int
	err     error
}

// runStep runs do with the writer, in a transaction of its own.
func (r *retention) runStep(do func(*writer) error) {
	r.withWriter(func(w *writer) error { return w.inTransaction(func() error { return do(w) }) })
}

func (r *retention) withWriter(do func(*writer) error) {
	if r.err != nil {
		return
	}
	r.j.write.Lock()
	defer r.j.write.Unlock()
	switch {
	case r.j.closed.Load():
		r.err = ErrClosed
	case r.j.writer == nil:
		r.err = errNotOpen
	default:
		r.err = do(r.j.writer)
	}
}

// dropEvents deletes the events of where within s, and their outcomes.
func (r *retention) dropEvents(s span, where string, args ...driver.Value) {
	var changed int64
	r.runStep(func(w *writer) (err error) {
		args := append([]driver.Value{s.first, s.last}, args...)
		if _, err = w.execCounting("DELETE FROM outcomes WHERE id IN (SELECT id FROM events WHERE cursor BETWEEN ? "+
			"AND ?"+where+")", args...); err != nil {
			return err
		}
		changed, err = w.execCounting("DELETE FROM events WHERE cursor BETWEEN ? AND ?"+where, args...)
		if err == nil && changed > 0 {
			err = w.persistCursor(w.next - 1)
		}
		return err
	})
	if r.err == nil {
		r.deleted += int(changed)
	}
}

func (r *retention) byAge(now time.Time, keep time.Duration, perAgent map[string]time.Duration) {
	var own []driver.Value
	for agent, d := range perAgent {
		own = append(own, agent)
		if d > 0 {
			r.olderThan(now.Add(-d), " AND shape IN (SELECT shape FROM shapes WHERE agent = ?)", agent)
		}
	}
	if keep <= 0 {
		return
	}
	if len(own) == 0 {
		r.olderThan(now.Add(-keep), "")
		return
	}
	r.olderThan(now.Add(-keep), " AND shape NOT IN (SELECT shape FROM shapes WHERE agent IN (?"+
		strings.Repeat(",?", len(own)-1)+"))", own...)
}

// olderThan goes through the blocks in which something is older than cutoff.
func (r *retention) olderThan(cutoff time.Time, where string, args ...driver.Value) {
	var spans []span
	micros := cutoff.UnixMicro()
	r.withWriter(func(w *writer) error {
		if w.tail.rows > 0 && w.tail.low < micros {
			spans = append(spans, span{w.tail.first, w.tail.last})
		}
		return w.eachRow("SELECT first, last FROM blocks WHERE low < ?", func(v []driver.Value) {
			spans = append(spans, span{integerValue(v[0]), integerValue(v[1])})
		}, micros)
	})
	for _, s := range spans {
		for ; s.first <= s.last && r.err == nil; s.first += deleteRows {
			r.dropEvents(span{s.first, min(s.last, s.first+deleteRows-1)}, " AND time < ?"+where,
				append([]driver.Value{micros}, args...)...)
		}
	}
}

// bySize deletes from the old end until a sixteenth below the limit, so that
// not every run has to.
func (r *retention) bySize(maxBytes int64) {
	if maxBytes <= 0 {
		return
	}
	limit := maxBytes
	for r.err == nil {
		var used, oldest int64
		r.withWriter(func(w *writer) (err error) {
			if used, err = w.usedBytes(); err == nil {
				oldest, err = w.queryNumber("SELECT min(cursor) FROM events")
			}
			return err
		})
		if r.err != nil || used <= limit || oldest == 0 {
			return
		}
		limit = maxBytes - maxBytes/16
		// About as many as are too many, so that a few large events don't
		// take all the others with them.
		r.dropEvents(span{oldest, oldest + rowsBeyond(max(r.j.newest.Load()-oldest+1, 1), used, limit) - 1}, "")
	}
}

// rowsBeyond is about how many rows are too many, within what is deleted at a time.
func rowsBeyond(rows, used, limit int64) int64 {
	return min(max(int64(float64(rows)*float64(used-limit)/float64(used)), 16), deleteRows)
}

// sampled is how many events are read to estimate each owner's share of a journal.
const sampled = 4096

// rowBytes is about what an event takes up besides its body.
const rowBytes = 250

// byShare deletes the oldest events of owners that take up too much, until the journal is
// small enough or they have no more than their part. It returns them.
func (r *retention) byShare(maxBytes int64, mark string) []string {
	if maxBytes <= 0 {
		return nil
	}
	var used, oldest, newest int64
	bytes := map[string]int64{}
	r.withWriter(func(w *writer) (err error) {
		if used, err = w.usedBytes(); err != nil || used <= maxBytes {
			return err
		}
		if oldest, err = w.queryNumber("SELECT coalesce(min(cursor), 0) FROM events"); err != nil {
			return err
		}
		newest = r.j.newest.Load()
		for range sampled {
			if err = w.eachRow("SELECT id, coalesce(length(body), 0) FROM events WHERE cursor >= ? ORDER BY cursor LIMIT 1",
				func(v []driver.Value) {
					id, _ := v[0].(string)
					owner, _, _ := strings.Cut(id, mark)
					bytes[owner] += integerValue(v[1]) + rowBytes
				}, oldest+rand.Int64N(newest-oldest+1)); err != nil {
				return err
			}
		}
		return nil
	})
	owners, beyond := Crowders(bytes)
	if r.err != nil || len(owners) == 0 {
		return nil
	}
	var args []driver.Value
	for _, owner := range owners {
		from, to := ownerRange(owner, mark)
		args = append(args, from, to)
	}
	where := " AND (id >= ? AND id < ?" + strings.Repeat(" OR id >= ? AND id < ?", len(owners)-1) + ")"
	limit := max(maxBytes-maxBytes/16, used-int64(float64(used)*beyond))
	for oldest <= newest && used > limit && r.err == nil {
		step := rowsBeyond(newest-oldest+1, used, limit)
		r.dropEvents(span{oldest, oldest + step - 1}, where, args...)
		oldest += step
		r.withWriter(func(w *writer) (err error) {
			used, err = w.usedBytes()
			return err
		})
	}
	return owners
}

// usedBytes returns how many bytes of the file hold something.
func (w *writer) usedBytes() (int64, error) {
	return w.queryNumber("SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count p, " +
		"pragma_freelist_count f, pragma_page_size s")
}

// loseOutcomes deletes outcomes too old for anybody whose event is not there,
// and never will be.
func (r *retention) loseOutcomes(now time.Time, keep time.Duration, perAgent map[string]time.Duration) {
	longest := keep
	for _, d := range perAgent {
		if d <= 0 {
			return
		}
		longest = max(longest, d)
	}
	if keep <= 0 || r.err != nil {
		return
	}
	// Looked for beside the writer: all outcomes are gone through.
	db, err := r.j.readPool()
	if err != nil {
		r.err = err
		return
	}
	rows, err := db.Query("SELECT id FROM outcomes o WHERE time < ? AND NOT EXISTS (SELECT 1 FROM events e WHERE "+
		"e.id = o.id)", now.Add(-longest).UnixMicro())
	if err != nil {
		r.err = err
		return
	}
	var ids []driver.Value
	for rows.Next() {
		var id string
		if r.err = rows.Scan(&id); r.err != nil {
			break
		}
		ids = append(ids, id)
	}
	if r.err == nil {
		r.err = rows.Err()
	}
	rows.Close()
	for len(ids) > 0 && r.err == nil {
		n := min(len(ids), deleteRows)
		r.runStep(func(w *writer) error {
			return w.execQuery("DELETE FROM outcomes WHERE id IN (?"+strings.Repeat(",?", n-1)+")", ids[:n]...)
		})
		ids = ids[n:]
	}
}

// deleteOrphans deletes what nothing refers to any more and gives space back.
func (r *retention) deleteOrphans() {
	if r.deleted > 0 {
		r.runStep(func(w *writer) error {
			oldest, err := w.queryNumber("SELECT coalesce(min(cursor), ?) FROM events", w.next)
			if err != nil {
				return err
			}
			if err := w.execQuery("DELETE FROM blocks WHERE last < ?", oldest); err != nil {
				return err
			}
			return w.forgetOrigins(oldest)
		})
	}
	for before := int64(-1); r.err == nil; {
		var free int64
		r.withWriter(func(w *writer) (err error) {
			if free, err = w.queryNumber("PRAGMA freelist_count"); err != nil || free == 0 || free == before {
				return err
			}
			return w.execQuery("PRAGMA incremental_vacuum(" + strconv.Itoa(vacuumPages) + ")")
		})
		if free == 0 || free == before {
			break
		}
		before = free
	}
	if r.deleted > 0 {
		r.withWriter(func(w *writer) error { return w.execQuery("PRAGMA wal_checkpoint(PASSIVE)") })
	}
}

// forgetOrigins deletes origins whose last event came before oldest.
func (w *writer) forgetOrigins(oldest int64) error {
	gone := map[int64]bool{}
	err := w.eachRow("SELECT origin FROM origins WHERE last < ?", func(v []driver.Value) {
		// Of those in the tail, last is behind.
		if id := integerValue(v[0]); !w.inTail(id) {
			gone[id] = true
		}
	}, oldest)
	if err != nil {
		return err
	}
	for id := range gone {
		if err := w.execQuery("DELETE FROM origins WHERE origin = ?", id); err != nil {
			return err
		}
	}
	for key, id := range w.origins {
		if gone[id] {
			delete(w.origins, key)
		}
	}
	return nil
}

func (w *writer) inTail(origin int64) bool {
	_, ok := w.originsInTail[origin]
	return ok
}
