package usage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/smallfile"
)

// Database is the file that calls are stored in, in the state folder.
const Database = "usage.db"

// schemaVersion is that of the tables below. A store of another version is begun again
// from the agents' records, except one from the future, which is left alone.
const schemaVersion = 1

const schema = `
CREATE TABLE calls (
	agent TEXT NOT NULL, id TEXT NOT NULL, request TEXT NOT NULL, model TEXT NOT NULL, session TEXT NOT NULL,
	project TEXT NOT NULL, at INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
	cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cache_write_1h INTEGER NOT NULL,
	cost REAL NOT NULL, flags INTEGER NOT NULL, window INTEGER NOT NULL,
	PRIMARY KEY (agent, id, request)) WITHOUT ROWID;
CREATE INDEX sums ON calls (agent, session, model) WHERE agent IN ('copilot', 'droid', 'goose');
CREATE TABLE files (path TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE windows (agent TEXT NOT NULL, name TEXT NOT NULL, used REAL NOT NULL, length INTEGER NOT NULL,
	resets INTEGER NOT NULL, plan TEXT NOT NULL, learned INTEGER NOT NULL, PRIMARY KEY (agent, name)) WITHOUT ROWID;
`

// Flags of a stored call.
const (
	flagFast = 1 << iota
	flagReplay
	flagSum
)

// Store keeps every call once. One goroutine writes; any may read.
type Store struct {
	db     *sql.DB
	prices func() *Prices
	path   string
}

// OpenStore opens the store, and makes it where there is none. A file that is no
// database is set aside.
func OpenStore(path string, prices func() *Prices) (*Store, error) {
	s := &Store{path: path, prices: prices}
	err := s.open()
	var broken *brokenError
	if errors.As(err, &broken) {
		if _, aside := smallfile.SetAside(path); aside != nil {
			return nil, errors.Join(err, aside)
		}
		_ = os.Remove(path + "-wal")
		_ = os.Remove(path + "-shm")
		err = s.open()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }

func (s *Store) open() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	q := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-8000)",
		"wal_autocheckpoint(4000)", "journal_size_limit(16777216)",
		"temp_store(MEMORY)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: s.path, RawQuery: q.Encode()}).String())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(3)
	db.SetMaxIdleConns(1)
	db.SetConnMaxIdleTime(time.Minute)
	var version int
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		db.Close()
		return &brokenError{err}
	}
	switch {
	case version > schemaVersion:
		db.Close()
		return errors.New("a newer hookmux wrote it; use that one, or remove the file")
	case version < schemaVersion:
		if _, err := db.Exec(schema + fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
			db.Close()
			return &brokenError{err}
		}
	}
	s.db = db
	return nil
}

// Close closes the store.
func (s *Store) Close() error { return s.db.Close() }

const callColumns = "agent, id, request, model, session, project, at, input, output, cache_read, cache_write, " +
	"cache_write_1h, cost, flags, window"

func scanCall(rows *sql.Rows) (c Call, err error) {
	var at, flags int64
	err = rows.Scan(&c.Agent, &c.ID, &c.Request, &c.Model, &c.Session, &c.Project, &at, &c.Tokens.Input,
		&c.Tokens.Output, &c.Tokens.CacheRead, &c.Tokens.CacheWrite, &c.Tokens.CacheWrite1h, &c.Cost, &flags, &c.Window)
	c.At, c.Fast, c.Replay, c.Sum = time.UnixMilli(at), flags&flagFast != 0, flags&flagReplay != 0, flags&flagSum != 0
	return c, err
}

// Each calls f for the calls since a moment.
func (s *Store) Each(ctx context.Context, since time.Time, f func(*Call)) error {
	from := int64(-1 << 62)
	if !since.IsZero() {
		from = since.UnixMilli()
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+callColumns+" FROM calls WHERE at >= ?", from)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		c, err := scanCall(rows)
		if err != nil {
			return err
		}
		f(&c)
	}
	return rows.Err()
}

// Positions are how far each file has been read.
func (s *Store) Positions(ctx context.Context) (map[string]*position, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT path, position FROM files")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]*position{}
	for rows.Next() {
		var path, text string
		if err := rows.Scan(&path, &text); err != nil {
			return nil, err
		}
		p := new(position)
		if json.Unmarshal([]byte(text), p) == nil { // otherwise it is read from the start
			all[path] = p
		}
	}
	return all, rows.Err()
}

// Windows are how much of each plan is known to be used.
func (s *Store) Windows(ctx context.Context) ([]Window, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT agent, name, used, length, resets, plan, learned FROM windows "+
		"ORDER BY agent, length")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Window
	for rows.Next() {
		var w Window
		var length, resets, learned int64
		if err := rows.Scan(&w.Agent, &w.Name, &w.Used, &length, &resets, &w.Plan, &learned); err != nil {
			return nil, err
		}
		w.Length, w.Learned = time.Duration(length), time.UnixMilli(learned)
		if resets > 0 {
			w.Resets = time.UnixMilli(resets)
		}
		list = append(list, w)
	}
	return list, rows.Err()
}

func (s *Store) isEmpty(ctx context.Context) bool {
	var n int
	return s.db.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM calls LIMIT 1)").Scan(&n) == nil && n == 0
}

// maxPending is how many different calls wait to be written together.
const maxPending = 8192

// batch collects calls and writes them at once. Copies of a call that come soon after
// each other are put together before.
type batch struct {
	store   *Store
	tx      *sql.Tx
	find    *sql.Stmt
	put     *sql.Stmt
	putMany *sql.Stmt
	pending map[[2]string][]*pendingCall // by agent and id
	count   int
	known   *knownIDs // of a first import; nil: the store is asked
	// changed hears of every call that got larger.
	changed func(was, is *Call)
}

// knownIDs has a hash of each id in the store, while everything in it comes from one
// import: most ids are new then, and the store needn't be asked.
type knownIDs struct {
	seed   maphash.Seed
	hashes map[uint64]struct{}
}

// addNew notes an id, and reports whether it is new for sure.
func (k *knownIDs) addNew(key [2]string) bool {
	if k == nil {
		return false
	}
	hash := maphash.Comparable(k.seed, key)
	_, had := k.hashes[hash]
	k.hashes[hash] = struct{}{}
	return !had
}

type pendingCall struct {
	was   *Call // as it is stored; nil while it isn't
	is    Call
	dirty bool
}

func (s *Store) begin(ctx context.Context, changed func(was, is *Call)) (*batch, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	b := &batch{store: s, tx: tx, pending: map[[2]string][]*pendingCall{}, changed: changed}
	b.find, err = tx.PrepareContext(ctx, "SELECT "+callColumns+" FROM calls WHERE agent = ? AND id = ?")
	if err == nil {
		b.put, err = tx.PrepareContext(ctx, putStatement(1))
	}
	if err == nil {
		b.putMany, err = tx.PrepareContext(ctx, putStatement(putAtOnce))
	}
	if err != nil {
		_ = tx.Rollback() // the first error says more
		return nil, err
	}
	return b, nil
}

// add counts a call.
func (b *batch) add(c Call) error {
	if c.Sum {
		return b.addSum(c)
	}
	known, err := b.callsOf(c.Agent, c.ID)
	if err != nil {
		return err
	}
	for _, p := range known {
		if sameCall(&p.is, &c) {
			merged := merge(p.is, c, b.store.prices())
			if merged != p.is {
				p.is, p.dirty = merged, true
			}
			return nil
		}
	}
	key := [2]string{c.Agent, c.ID}
	b.pending[key] = append(known, &pendingCall{is: c, dirty: true})
	b.count++
	return b.flushIfFull()
}

// addSum counts what a total has beyond the calls that are known: today's part of it.
func (b *batch) addSum(c Call) error {
	if err := b.flush(); err != nil {
		return err
	}
	c.ID = c.Session + "@" + c.Model + "@" + dayOf(c.At)
	var others Call
	err := b.tx.QueryRow("SELECT coalesce(sum(input),0), coalesce(sum(output),0), coalesce(sum(cache_read),0), "+
		"coalesce(sum(cache_write),0), coalesce(sum(cache_write_1h),0), coalesce(sum(cost),0) FROM calls "+
		"WHERE agent = ? AND session = ? AND model = ? AND id <> ? AND agent IN ('copilot', 'droid', 'goose')",
		c.Agent, c.Session, c.Model, c.ID).Scan(&others.Tokens.Input, &others.Tokens.Output, &others.Tokens.CacheRead,
		&others.Tokens.CacheWrite, &others.Tokens.CacheWrite1h, &others.Cost)
	if err != nil {
		return err
	}
	c.Tokens, c.Cost = c.Tokens.minus(others.Tokens), max(0, c.Cost-others.Cost)
	if c.Tokens.Total() == 0 {
		return nil
	}
	known, err := b.callsOf(c.Agent, c.ID)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		known = []*pendingCall{{is: c, dirty: true}}
		b.pending[[2]string{c.Agent, c.ID}] = known
		b.count++
	} else if merged := merge(known[0].is, c, b.store.prices()); merged != known[0].is {
		known[0].is, known[0].dirty = merged, true
	}
	return b.flush()
}

// callsOf are the calls with an id: one, but for a few.
func (b *batch) callsOf(agent, id string) ([]*pendingCall, error) {
	key := [2]string{agent, id}
	if list, ok := b.pending[key]; ok {
		return list, nil
	}
	if b.known.addNew(key) {
		return nil, nil
	}
	rows, err := b.find.Query(agent, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*pendingCall
	for rows.Next() {
		c, err := scanCall(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, &pendingCall{was: &c, is: c})
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if list != nil {
		b.pending[key] = list
		b.count += len(list)
	}
	return list, b.flushIfFull()
}

// sameCall reports whether two records with the same id are the same call.
func sameCall(a, b *Call) bool {
	return a.Request == b.Request || a.Request == "" || b.Request == "" || a.Replay || b.Replay
}

// merge puts two records of a call together. Nothing gets less by it: of every number
// the larger one counts, and of two models the one that costs more. A model without a
// price stays, because what it cost isn't known.
func merge(was, more Call, prices *Prices) Call {
	is := was
	is.Tokens = was.Tokens.atLeast(more.Tokens)
	is.Cost = max(was.Cost, more.Cost)
	is.Fast = was.Fast || more.Fast
	is.Window = max(was.Window, more.Window)
	switch {
	case was.Replay && !more.Replay: // the original has the right names
		is.Replay, is.Session, is.Project, is.Request = false, more.Session, more.Project, more.Request
	case was.Request == "" && !more.Replay:
		is.Request = more.Request
	}
	if is.Session == "" {
		is.Session = more.Session
	}
	if is.Project == "" {
		is.Project = more.Project
	}
	if was.Model == "" {
		is.Model = more.Model
	} else if more.Model != was.Model && more.Model != "" {
		other := is
		other.Model = more.Model
		now, priced := prices.Cost(&is)
		then, also := prices.Cost(&other)
		if priced && also && then > now {
			is.Model = more.Model
		}
	}
	return is // and when it was: a later record can't move it to another day
}

func (b *batch) flushIfFull() error {
	if b.count < maxPending {
		return nil
	}
	return b.flush()
}

// putAtOnce is how many calls one statement writes.
const putAtOnce = 64

// putStatement writes n calls.
func putStatement(n int) string {
	return "INSERT OR REPLACE INTO calls (" + callColumns + ") VALUES " +
		strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?),", n), ",")
}

// flush writes what waits, in the order of the table.
func (b *batch) flush() error {
	keys := slices.SortedFunc(maps.Keys(b.pending), func(x, y [2]string) int { return slices.Compare(x[:], y[:]) })
	var values []any
	for _, key := range keys {
		for _, p := range b.pending[key] {
			if !p.dirty {
				continue
			}
			c := &p.is
			if p.was != nil && p.was.Request != c.Request {
				if _, err := b.tx.Exec("DELETE FROM calls WHERE agent = ? AND id = ? AND request = ?", c.Agent, c.ID,
					p.was.Request); err != nil {
					return err
				}
			}
			values = appendValues(values, c)
			if len(values) == putAtOnce*callFields {
				if _, err := b.putMany.Exec(values...); err != nil {
					return err
				}
				values = values[:0]
			}
			if b.changed != nil {
				b.changed(p.was, c)
			}
		}
	}
	for one := range slices.Chunk(values, callFields) {
		if _, err := b.put.Exec(one...); err != nil {
			return err
		}
	}
	clear(b.pending)
	b.count = 0
	return nil
}

// callFields is how many columns a call has.
const callFields = 15

func appendValues(values []any, c *Call) []any {
	var flags int64
	for _, f := range []struct {
		on  bool
		bit int64
	}{{c.Fast, flagFast}, {c.Replay, flagReplay}, {c.Sum, flagSum}} {
		if f.on {
			flags |= f.bit
		}
	}
	return append(values, c.Agent, c.ID, c.Request, c.Model, c.Session, c.Project, c.At.UnixMilli(), c.Tokens.Input,
		c.Tokens.Output, c.Tokens.CacheRead, c.Tokens.CacheWrite, c.Tokens.CacheWrite1h, c.Cost, flags, c.Window)
}

func (b *batch) savePosition(path string, p *position) error {
	text, err := json.Marshal(p)
	if err == nil {
		_, err = b.tx.Exec("INSERT OR REPLACE INTO files VALUES (?, ?)", path, string(text))
	}
	return err
}

func (b *batch) saveWindow(w *Window) error { return saveWindow(b.tx, w) }

func (s *Store) saveWindow(w *Window) error { return saveWindow(s.db, w) }

// saveWindow keeps the newest of what an agent said about a window.
func saveWindow(into interface {
	Exec(query string, args ...any) (sql.Result, error)
}, w *Window) error {
	resets := int64(0)
	if !w.Resets.IsZero() {
		resets = w.Resets.UnixMilli()
	}
	_, err := into.Exec("INSERT INTO windows VALUES (?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET used = excluded.used, "+
		"length = excluded.length, resets = excluded.resets, plan = excluded.plan, learned = excluded.learned "+
		"WHERE excluded.learned >= learned",
		w.Agent, w.Name, w.Used, int64(w.Length), resets, w.Plan, w.Learned.UnixMilli())
	return err
}

func (b *batch) commit() error {
	if err := b.flush(); err != nil {
		_ = b.tx.Rollback() // the first error says more
		return err
	}
	return b.tx.Commit()
}

func (b *batch) rollback() { _ = b.tx.Rollback() }
