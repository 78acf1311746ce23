package journal

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
)

const (
	// rowsPerInsert is how many rows one INSERT carries: with 16 a row costs
	// about a quarter less than one by one, more gain nothing.
	rowsPerInsert = 16
	columns       = 7 // of events
	outcomeParts  = 9 // columns of outcomes
	// blockRows is how many events a block spans at least.
	blockRows = 1024
	// internLimit bounds what the writer knows by heart of shapes and of
	// origins each.
	internLimit = 4096
)

// writer is the one connection that writes, and what it remembers of the
// file. After a failed transaction its memory may be ahead of the file: then
// it is stale and believes only what it reads again.
type writer struct {
	rawConn
	insertShape   *statement
	insertOrigin  *statement
	begin, commit *statement
	insertMany    *statement
	insertOne     *statement
	oneOutcome    *statement
	manyOutcomes  *statement
	cursorOf      *statement
	putOutbox     *statement
	stale         bool
	next          int64 // cursor of the next event
	shapes        map[shape]int64
	origins       map[fingerprint]int64
	seeds         [2]maphash.Seed
	nextShape     int64
	nextOrigin    int64
	tail          block
	originsInTail map[int64]struct{}

	own           []object // what the file holds
	schemaVersion int64    // when that was last looked at
	removed       []string // what else it held, and nobody was told of yet
}

// shape is the part of an event that repeats from event to event.
type shape struct{ agent, kind, native, tool string }

// origin is where it happened.
type origin struct {
	session, cwd, version, caller, host, pane, tty string
	pid                                            int
	start                                          uint64
}

// fingerprint represents an origin in memory: a long-lived daemon meets thousands, each of
// seven strings. Collisions at 128 bits are negligible, and none can be made without the
// seeds.
type fingerprint [2]uint64

func (w *writer) fingerprint(o origin) fingerprint {
	return fingerprint{maphash.Comparable(w.seeds[0], o), maphash.Comparable(w.seeds[1], o)}
}

// block is a run of neighbouring events and the times between which they are.
type block struct {
	first, last int64
	low, high   int64
	rows        int
}

func (b *block) addEvent(cursor, time int64) {
	if b.rows == 0 {
		b.first, b.low, b.high = cursor, time, time
	}
	b.last, b.low, b.high = cursor, min(b.low, time), max(b.high, time)
	b.rows++
}

func openWriter(d driver.Driver, dsn string) (*writer, error) {
	conn, err := d.Open(dsn)
	if err != nil {
		return nil, err
	}
	w := &writer{rawConn: rawConn{conn}}
	if err := w.setUp(); err != nil {
		conn.Close()
		return nil, err
	}
	if w.own, err = ownObjects(d); err == nil {
		err = w.changeSchema()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	if err := w.prepareAll(); err != nil {
		conn.Close()
		return nil, err
	}
	if err := w.loadState(); err != nil {
		conn.Close()
		return nil, err
	}
	if err := w.execQuery("INSERT OR IGNORE INTO meta(name, value) VALUES ('identity', ?)", 1+rand.Int64N(1<<62)); err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

func (w *writer) prepareAll() error {
	one := "(" + strings.Repeat("?,", columns-1) + "?)"
	insert := "INSERT OR IGNORE INTO events(cursor, id, time, shape, origin, flags, body) VALUES "
	ofOutcome := "(" + strings.Repeat("?,", outcomeParts-1) + "?)"
	outcome := "INSERT OR REPLACE INTO outcomes(id, time, took, verdict, by, degraded, decision, steps, answer) VALUES "
	for _, p := range []struct {
		to     **statement
		query  string
		params int
	}{
		{&w.begin, "BEGIN IMMEDIATE", 0},
		{&w.commit, "COMMIT", 0},
		{&w.insertOne, insert + one, columns},
		{&w.insertMany, insert + one + strings.Repeat(","+one, rowsPerInsert-1), columns * rowsPerInsert},
		{&w.oneOutcome, outcome + ofOutcome, outcomeParts},
		{&w.manyOutcomes, outcome + ofOutcome + strings.Repeat(","+ofOutcome, rowsPerInsert-1), outcomeParts * rowsPerInsert},
		{&w.insertShape, "INSERT INTO shapes(shape, agent, kind, native, tool) VALUES (?,?,?,?,?)", 5},
		{&w.insertOrigin, "INSERT INTO origins(origin, first, last, session, cwd, version, caller, host, pane, tty, pid, start) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", 12},
		{&w.cursorOf, "SELECT cursor FROM events WHERE id = ?", 1},
		{&w.putOutbox, "INSERT INTO outbox(id) VALUES (?)", 1},
	} {
		s, err := w.prepareStatement(p.query, p.params)
		if err != nil {
			return err
		}
		*p.to = s
	}
	return nil
}

func (w *writer) close() error {
	for _, s := range []*statement{w.begin, w.commit, w.insertOne, w.insertMany, w.oneOutcome, w.manyOutcomes,
		w.insertShape, w.insertOrigin, w.cursorOf, w.putOutbox} {
		if s != nil {
			s.stmt.Close()
		}
	}
	return w.rawConn.close()
}

// loadState reads from the file what the writer must know by heart.
func (w *writer) loadState() error {
	w.stale = true
	w.shapes, w.origins = map[shape]int64{}, map[fingerprint]int64{}
	w.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	w.tail, w.originsInTail = block{}, map[int64]struct{}{}
	for _, n := range []struct {
		to    *int64
		query string
	}{
		// meta remembers the newest cursor even when its event is deleted.
		{&w.next, "SELECT max(coalesce((SELECT max(cursor) FROM events), 0), coalesce((SELECT value FROM meta WHERE name = 'cursor'), 0)) + 1"},
		{&w.nextShape, "SELECT coalesce(max(shape), 0) + 1 FROM shapes"},
		{&w.nextOrigin, "SELECT coalesce(max(origin), 0) + 1 FROM origins"},
	} {
		v, err := w.queryNumber(n.query)
		if err != nil {
			return err
		}
		*n.to = v
	}
	err := w.eachRow("SELECT shape, agent, kind, native, tool FROM shapes ORDER BY shape DESC LIMIT ?",
		func(v []driver.Value) {
			w.shapes[shape{textValue(v[1]), textValue(v[2]), textValue(v[3]), textValue(v[4])}] = integerValue(v[0])
		}, int64(internLimit/2))
	if err != nil {
		return err
	}
	// The events after the last block: there are few.
	err = w.eachRow("SELECT cursor, time, origin FROM events WHERE cursor > coalesce((SELECT max(last) FROM "+
		"blocks), 0) ORDER BY cursor", func(v []driver.Value) {
		w.tail.addEvent(integerValue(v[0]), integerValue(v[1]))
		w.originsInTail[integerValue(v[2])] = struct{}{}
	})
	if err != nil {
		return err
	}
	w.stale = false
	return nil
}

// persistCursor stores newest, so that the next cursor comes after it for good.
func (w *writer) persistCursor(newest int64) error {
	if err := w.execQuery("INSERT OR REPLACE INTO meta(name, value) VALUES ('cursor', ?)", newest); err != nil {
		return err
	}
	w.next = max(w.next, newest+1)
	return nil
}

// inTransaction runs do between BEGIN and COMMIT. When anything fails nothing of
// it is in the file, and the writer is stale.
func (w *writer) inTransaction(do func() error) error {
	if w.stale {
		w.execQuery("ROLLBACK") // in case the first one failed
		if err := w.loadState(); err != nil {
			return err
		}
	}
	if _, err := w.begin.runStatement(); err != nil {
		return err
	}
	err := w.removeForeign()
	if err == nil {
		err = do()
	}
	if err == nil {
		_, err = w.commit.runStatement()
	}
	if err != nil {
		w.execQuery("ROLLBACK") // fails when SQLite rolled back by itself, which is as good
		w.stale, w.schemaVersion, w.removed = true, 0, nil
	}
	return err
}

// putBatch stores a batch inside a transaction and fills in cursors.
func (w *writer) putBatch(batch []Item, cursors []int64) error {
	err := inGroups(batch, func(it *Item) bool { return it.Row != nil }, func(group []int) error {
		return w.insertGroup(batch, group, cursors)
	})
	if err != nil {
		return err
	}
	err = inGroups(batch, func(it *Item) bool { return it.Outcome != nil }, func(group []int) error {
		return w.insertOutcomes(batch, group)
	})
	if err != nil {
		return err
	}
	if w.tail.rows >= blockRows {
		return w.endBlock()
	}
	return nil
}

// inGroups hands the indexes of the items that have something to do in groups
// of rowsPerInsert, and what is left over one by one: a statement is prepared
// for these two sizes.
func inGroups(batch []Item, has func(*Item) bool, do func([]int) error) error {
	left := 0
	for i := range batch {
		if has(&batch[i]) {
			left++
		}
	}
	var group [rowsPerInsert]int
	n := 0
	for i := range batch {
		if !has(&batch[i]) {
			continue
		}
		group[n] = i
		n++
		if n == rowsPerInsert || left < rowsPerInsert {
			if err := do(group[:n]); err != nil {
				return err
			}
			left -= n
			n = 0
		}
	}
	return nil
}

// insertGroup stores the events of one group, which is full or of one.
func (w *writer) insertGroup(batch []Item, group []int, cursors []int64) error {
	s := w.insertOne
	if len(group) == rowsPerInsert {
		s = w.insertMany
	}
	var placed [rowsPerInsert]struct{ time, origin int64 }
	for k, i := range group {
		r := batch[i].Row
		cursor := w.next
		w.next++
		cursors[i] = cursor
		shapeID, err := w.shapeOf(r)
		if err != nil {
			return err
		}
		originID, err := w.originOf(r, cursor)
		if err != nil {
			return err
		}
		placed[k].time, placed[k].origin = r.Time.UnixMicro(), originID
		var flags int64
		if r.Nested {
			flags |= flagNested
		}
		if r.Truncated {
			flags |= flagTruncated
		}
		id := r.ID
		if id == "" {
			id = "unnamed-" + strconv.FormatInt(cursor, 10) // nobody can ask for it twice
		}
		a := s.args[columns*k : columns*(k+1)]
		a[0].Value, a[1].Value, a[2].Value = cursor, id, placed[k].time
		a[3].Value, a[4].Value, a[5].Value = shapeID, originID, flags
		a[6].Value = blobValue(r.Body)
	}
	changed, err := s.runStatement()
	if err != nil {
		return err
	}
	if changed != int64(len(group)) {
		if err := w.sortOutDuplicates(batch, group, cursors); err != nil {
			return err
		}
	}
	for k, i := range group {
		if cursors[i] != 0 {
			w.tail.addEvent(cursors[i], placed[k].time)
			w.originsInTail[placed[k].origin] = struct{}{}
		}
	}
	return nil
}

// sortOutDuplicates takes the cursor from events that were there before.
func (w *writer) sortOutDuplicates(batch []Item, group []int, cursors []int64) error {
	for _, i := range group {
		id := batch[i].Row.ID
		if id == "" {
			continue
		}
		rows, err := w.cursorOf.stmt.(driver.StmtQueryContext).QueryContext(background, namedValues([]driver.Value{id}))
		if err != nil {
			return err
		}
		var v [1]driver.Value
		err = rows.Next(v[:])
		rows.Close()
		if errors.Is(err, io.EOF) {
			return errContradicts
		}
		if err != nil {
			return err
		}
		if integerValue(v[0]) != cursors[i] {
			cursors[i] = 0
		}
	}
	return nil
}

// endBlock writes the tail down as a block and begins a new one.
func (w *writer) endBlock() error {
	b := w.tail
	if err := w.execQuery("INSERT OR REPLACE INTO blocks(last, first, low, high) VALUES (?,?,?,?)", b.last, b.first,
		b.low, b.high); err != nil {
		return err
	}
	for id := range w.originsInTail {
		if err := w.execQuery("UPDATE origins SET last = ? WHERE origin = ?", b.last, id); err != nil {
			return err
		}
	}
	w.tail = block{}
	clear(w.originsInTail)
	return nil
}

func (w *writer) shapeOf(r *Row) (int64, error) {
	key := shape{r.Agent, r.Kind, r.Native, r.Tool}
	if id, ok := w.shapes[key]; ok {
		return id, nil
	}
	if len(w.shapes) >= internLimit {
		clear(w.shapes)
	}
	id := w.nextShape
	a := w.insertShape.args
	a[0].Value, a[1].Value, a[2].Value, a[3].Value, a[4].Value = id, r.Agent, r.Kind, r.Native, r.Tool
	if _, err := w.insertShape.runStatement(); err != nil {
		return 0, err
	}
	w.nextShape++
	// Cloned, for the strings may be windows into a whole payload.
	w.shapes[shape{strings.Clone(r.Agent), strings.Clone(r.Kind), strings.Clone(r.Native), strings.Clone(r.Tool)}] = id
	return id, nil
}

func (w *writer) originOf(r *Row, cursor int64) (int64, error) {
	key := w.fingerprint(origin{r.Session, r.Cwd, r.AgentVersion, r.Caller, r.Host, r.Pane, r.TTY, r.PID, r.Start})
	if id, ok := w.origins[key]; ok {
		return id, nil
	}
	if len(w.origins) >= internLimit {
		clear(w.origins)
	}
	id := w.nextOrigin
	for i, v := range [...]driver.Value{id, cursor, cursor, r.Session, r.Cwd, r.AgentVersion, r.Caller, r.Host, r.Pane,
		r.TTY, int64(r.PID), int64(r.Start)} {
		w.insertOrigin.args[i].Value = v
	}
	if _, err := w.insertOrigin.runStatement(); err != nil {
		return 0, err
	}
	w.nextOrigin++
	w.origins[key] = id
	return id, nil
}

// insertOutcomes stores the outcomes of one group.
func (w *writer) insertOutcomes(batch []Item, group []int) error {
	s := w.oneOutcome
	if len(group) == rowsPerInsert {
		s = w.manyOutcomes
	}
	for k, i := range group {
		o := batch[i].Outcome
		verdict, by, degraded := o.searchColumns()
		a := s.args[outcomeParts*k : outcomeParts*(k+1)]
		a[0].Value, a[1].Value, a[2].Value = o.ID, o.Time.UnixMicro(), int64(o.Took)
		a[3].Value, a[4].Value, a[5].Value = verdict, by, bitValue(degraded)
		a[6].Value, a[7].Value, a[8].Value = blobValue(o.Decision), blobValue(o.Steps), blobValue(o.Answer)
	}
	_, err := s.runStatement()
	return err
}

// searchColumns returns the values of the columns for searching, read from the decision if
// the caller left them empty.
func (o *Outcome) searchColumns() (verdict, by string, degraded bool) {
	verdict, by, degraded = o.Verdict, o.By, o.Degraded
	if verdict == "" && len(o.Decision) > 0 {
		var d struct {
			Verdict  string
			By       string
			Degraded []string
		}
		if json.Unmarshal(o.Decision, &d) == nil {
			verdict = d.Verdict
			if by == "" {
				by = d.By
			}
			degraded = degraded || len(d.Degraded) > 0
		}
	}
	if verdict == "" {
		verdict = "none"
	}
	return verdict, by, degraded
}

// blobValue stores nothing as NULL.
func blobValue(b []byte) driver.Value {
	if len(b) == 0 {
		return nil
	}
	return b
}

func bitValue(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func integerValue(v driver.Value) int64 { n, _ := v.(int64); return n }
func textValue(v driver.Value) string   { s, _ := v.(string); return s }
