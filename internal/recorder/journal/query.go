package journal

import (
	"context"
	"database/sql"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
)

// Filter says which events a query is about. Empty fields don't restrict;
// of a list one entry must fit.
type Filter struct {
	After, Before int64     // cursors, both exclusive; 0 is no bound
	Since, Until  time.Time // both inclusive

	Agents, Kinds, Natives, Tools []string
	Session                       string
	ID                            string // or the beginning of it
	// Verdict is the decision, as a word. "none" also matches events without a decision.
	Verdict string
	// Inbox keeps only events that you were asked about in the inbox, or that a permission
	// answered for you.
	Inbox bool
	// LogOnly keeps only events about which a only logged hook would have had a
	// say.
	LogOnly bool

	// Cursors keeps only the events with these cursors, in growing order; at most
	// [MaxCursors]. Nil doesn't restrict.
	Cursors []int64

	Limit  int  // 0 is no limit
	Newest bool // newest first, instead of oldest first
}

// MaxCursors is how many cursors one filter may name.
const MaxCursors = 500

const (
	// A page is read into memory and its read transaction ended before the
	// first of it is handed out: a slow reader must not block checkpointing.
	pageRows  = 256
	pageBytes = 1 << 20
	// spanRows bounds what one read transaction looks through when little of
	// it fits.
	spanRows = 16 << 10
)

// span is a run of cursors to look through, ends included.
type span struct{ first, last int64 }

// Query gives the events that fit f, as they are when it begins; later ones
// are had by asking again After the last cursor. An error ends it. The loop
// over it may take its time and may call the journal.
func (j *Journal) Query(ctx context.Context, f Filter) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		left := f.Limit
		spans, err := j.listSpans(ctx, f)
		if err != nil {
			yield(Stored{}, err)
			return
		}
		where, args := f.whereClause()
		for _, s := range spans {
			for s.first <= s.last {
				want := pageRows
				if f.Limit > 0 {
					want = min(want, left)
				}
				page, more, err := j.readPage(ctx, s, where, args, want, f.Newest)
				if err != nil {
					yield(Stored{}, err)
					return
				}
				for i := range page {
					if !yield(page[i], nil) {
						return
					}
				}
				left -= len(page)
				if f.Limit > 0 && left <= 0 {
					return
				}
				if !more {
					break
				}
				if end := page[len(page)-1].Cursor; f.Newest {
					s.last = end - 1
				} else {
					s.first = end + 1
				}
			}
		}
	}
}

// Bounds returns the first and the last cursor between which the events of f lie. They are
// (1, 0) where there are none.
func (j *Journal) Bounds(ctx context.Context, f Filter) (first, last int64, err error) {
	spans, err := j.listSpans(ctx, f)
	if err != nil || len(spans) == 0 {
		return 1, 0, err
	}
	first, last = spans[0].first, spans[0].last
	for _, s := range spans {
		first, last = min(first, s.first), max(last, s.last)
	}
	return first, last, nil
}

// Span returns the number of this file ([Journal.Identity]) and the cursors of its oldest and
// newest event. Where it has none, oldest is behind newest.
func (j *Journal) Span(ctx context.Context) (identity, oldest, newest int64, err error) {
	newest = j.Newest()
	if identity, err = j.Identity(ctx); err != nil {
		return 0, 0, 0, err
	}
	first, last, err := j.Bounds(ctx, Filter{Before: newest + 1})
	if oldest = first; first > last {
		oldest = newest + 1
	}
	return identity, oldest, newest, err
}

// Existing returns the cursors of events between two, both included.
func (j *Journal) Existing(ctx context.Context, first, last int64) (map[int64]bool, error) {
	db, err := j.readPool()
	if err != nil {
		return nil, j.explainError(err)
	}
	rows, err := db.QueryContext(ctx, "SELECT cursor FROM events WHERE cursor BETWEEN ? AND ?", first, last)
	if err != nil {
		return nil, j.explainError(err)
	}
	defer rows.Close()
	have := map[int64]bool{}
	for rows.Next() {
		var cursor int64
		if err := rows.Scan(&cursor); err != nil {
			return nil, j.explainError(err)
		}
		have[cursor] = true
	}
	return have, j.explainError(rows.Err())
}

// Identity returns a number of this file's own, by which what is made from it is known to be
// of it. It is 0 in a file that no daemon has opened since there are such numbers.
func (j *Journal) Identity(ctx context.Context) (int64, error) {
	db, err := j.readPool()
	if err != nil {
		return 0, j.explainError(err)
	}
	var id int64
	err = db.QueryRowContext(ctx, "SELECT coalesce((SELECT value FROM meta WHERE name = 'identity'), 0)").Scan(&id)
	return id, j.explainError(err)
}

// Get returns the event with this id.
func (j *Journal) Get(ctx context.Context, id string) (Stored, bool, error) {
	page, _, err := j.readPage(ctx, span{0, j.newest.Load()}, " AND e.id = ?", []any{id}, 1, false)
	if err != nil || len(page) == 0 {
		return Stored{}, false, err
	}
	return page[0], true, nil
}

// readPool returns the pool queries use.
func (j *Journal) readPool() (*sql.DB, error) {
	j.readersMu.RLock()
	defer j.readersMu.RUnlock()
	if j.readers == nil {
		if j.closed.Load() {
			return nil, ErrClosed
		}
		return nil, errNotOpen
	}
	return j.readers, nil
}

// listSpans lists what must be looked through, in the order of f.
func (j *Journal) listSpans(ctx context.Context, f Filter) ([]span, error) {
	db, err := j.readPool()
	if err != nil {
		return nil, j.explainError(err)
	}
	bound := span{f.After + 1, j.newest.Load()}
	if f.Before > 0 {
		bound.last = min(bound.last, f.Before-1)
	}
	if n := len(f.Cursors); n > 0 { // few: each is looked up
		return []span{{max(bound.first, f.Cursors[0]), min(bound.last, f.Cursors[n-1])}}, nil
	}
	var oldest sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT min(cursor) FROM events").Scan(&oldest); err != nil {
		return nil, j.explainError(err)
	}
	if !oldest.Valid {
		return nil, nil
	}
	bound.first = max(bound.first, oldest.Int64)

	rows, err := db.QueryContext(ctx, "SELECT first, last, low, high FROM blocks ORDER BY last")
	if err != nil {
		return nil, j.explainError(err)
	}
	defer rows.Close()
	var blocks []block
	tail := bound.first
	for rows.Next() {
		var b block
		if err := rows.Scan(&b.first, &b.last, &b.low, &b.high); err != nil {
			return nil, j.explainError(err)
		}
		tail = max(tail, b.last+1)
		if (f.Since.IsZero() || b.high >= f.Since.UnixMicro()) && (f.Until.IsZero() || b.low <= f.Until.UnixMicro()) {
			blocks = append(blocks, b)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, j.explainError(err)
	}
	// Read after the blocks: so last is right for everything in them.
	session := span{0, 1<<63 - 1}
	if f.Session != "" {
		var first, last sql.NullInt64
		if err := db.QueryRowContext(ctx, "SELECT min(first), max(last) FROM origins WHERE session = ?",
			f.Session).Scan(&first, &last); err != nil {
			return nil, j.explainError(err)
		}
		if !first.Valid {
			return nil, nil
		}
		session = span{first.Int64, last.Int64}
	}

	var spans []span
	add := func(s span) {
		s.first, s.last = max(s.first, bound.first), min(s.last, bound.last)
		if s.first > s.last {
			return
		}
		if n := len(spans); n > 0 && spans[n-1].last+1 == s.first && s.last-spans[n-1].first < spanRows {
			spans[n-1].last = s.last
			return
		}
		spans = append(spans, s)
	}
	for _, b := range blocks {
		add(span{max(b.first, session.first), min(b.last, session.last)})
	}
	add(span{max(tail, session.first), bound.last})
	if f.Newest {
		slices.Reverse(spans)
	}
	return spans, nil
}

// whereClause returns the parts of f that are checked event by event.
func (f *Filter) whereClause() (string, []any) {
	var where strings.Builder
	var args []any
	if !f.Since.IsZero() {
		where.WriteString(" AND e.time >= ?")
		args = append(args, f.Since.UnixMicro())
	}
	if !f.Until.IsZero() {
		where.WriteString(" AND e.time <= ?")
		args = append(args, f.Until.UnixMicro())
	}
	var shapes []string
	for _, list := range []struct {
		column string
		values []string
	}{{"agent", f.Agents}, {"kind", f.Kinds}, {"native", f.Natives}, {"tool", f.Tools}} {
		if len(list.values) == 0 {
			continue
		}
		shapes = append(shapes, list.column+" IN (?"+strings.Repeat(",?", len(list.values)-1)+")")
		for _, v := range list.values {
			args = append(args, v)
		}
	}
	if len(shapes) > 0 {
		where.WriteString(" AND e.shape IN (SELECT shape FROM shapes WHERE " + strings.Join(shapes, " AND ") + ")")
	}
	if len(f.Cursors) > 0 {
		where.WriteString(" AND e.cursor IN (?" + strings.Repeat(",?", len(f.Cursors)-1) + ")")
		for _, c := range f.Cursors {
			args = append(args, c)
		}
	}
	if f.ID != "" {
		where.WriteString(" AND e.id >= ? AND e.id < ?")
		args = append(args, f.ID, f.ID+"~")
	}
	if f.Session != "" {
		where.WriteString(" AND e.origin IN (SELECT origin FROM origins WHERE session = ?)")
		args = append(args, f.Session)
	}
	if f.Verdict != "" {
		// coalesce also keeps SQLite from beginning at the outcomes.
		where.WriteString(" AND coalesce(r.verdict, 'none') = ?")
		args = append(args, f.Verdict)
	}
	if f.Inbox {
		where.WriteString(` AND (instr(coalesce(r.decision, ''), '"inbox":{') > 0 OR coalesce(r.by, '') GLOB ?)`)
		args = append(args, event.ByPermission("*"))
	}
	if f.LogOnly {
		where.WriteString(` AND instr(coalesce(r.decision, ''), '"would":{') > 0`)
	}
	return where.String(), args
}

// readPage reads up to want events of s. more says that s may hold further ones
// beyond the last of the page.
func (j *Journal) readPage(ctx context.Context, s span, where string, args []any, want int, newest bool) (page []Stored,
	more bool, err error) {
	db, err := j.readPool()
	if err != nil {
		return nil, false, j.explainError(err)
	}
	order := "ASC"
	if newest {
		order = "DESC"
	}
	// LEFT JOIN throughout: it keeps SQLite walking along the events, and a
	// damaged dictionary costs words rather than events.
	rows, err := db.QueryContext(ctx, `SELECT e.cursor, e.id, e.time, e.flags, e.body,
		s.agent, s.kind, s.native, s.tool,
		o.session, o.cwd, o.version, o.caller, o.host, o.pane, o.tty, coalesce(o.pid, 0), coalesce(o.start, 0),
		r.time, coalesce(r.took, 0), r.verdict, r.by, coalesce(r.degraded, 0), r.decision, r.steps, r.answer
		FROM events e
		LEFT JOIN shapes s ON s.shape = e.shape
		LEFT JOIN origins o ON o.origin = e.origin
		LEFT JOIN outcomes r ON r.id = e.id
		WHERE e.cursor BETWEEN ? AND ?`+where+" ORDER BY e.cursor "+order+" LIMIT ?",
		append(append([]any{s.first, s.last}, args...), want)...)
	if err != nil {
		return nil, false, j.explainError(err)
	}
	defer rows.Close()
	size := 0
	for rows.Next() {
		st, err := scanRow(rows)
		if err != nil {
			return nil, false, j.explainError(err)
		}
		page = append(page, st)
		size += len(st.Body)
		if size >= pageBytes {
			return page, true, nil
		}
	}
	return page, len(page) == want, j.explainError(rows.Err())
}

func scanRow(rows *sql.Rows) (Stored, error) {
	var st Stored
	var when, flags, start, took int64
	var words [11]sql.NullString
	var outcomeTime sql.NullInt64
	var verdict, by sql.NullString
	var degraded bool
	var decision, steps, answer []byte
	err := rows.Scan(&st.Cursor, &st.ID, &when, &flags, &st.Body,
		&words[0], &words[1], &words[2], &words[3],
		&words[4], &words[5], &words[6], &words[7], &words[8], &words[9], &words[10], &st.PID, &start,
		&outcomeTime, &took, &verdict, &by, &degraded, &decision, &steps, &answer)
	if err != nil {
		return Stored{}, err
	}
	st.Time = time.UnixMicro(when)
	st.Nested, st.Truncated = flags&flagNested != 0, flags&flagTruncated != 0
	st.Agent, st.Kind, st.Native, st.Tool = words[0].String, words[1].String, words[2].String, words[3].String
	st.Session, st.Cwd, st.AgentVersion, st.Caller = words[4].String, words[5].String, words[6].String, words[7].String
	st.Host, st.Pane, st.TTY = words[8].String, words[9].String, words[10].String
	st.Start = uint64(start)
	if outcomeTime.Valid {
		st.Outcome = &Outcome{ID: st.ID, Time: time.UnixMicro(outcomeTime.Int64), Took: time.Duration(took),
			Verdict: verdict.String, By: by.String, Degraded: degraded, Decision: decision, Steps: steps,
			Answer: answer}
	}
	return st, nil
}
