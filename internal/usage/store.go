package usage

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// Database is the file that calls are stored in, in the state folder.
const Database = "usage.db"

// schemaVersion is that of the tables below. A store of another version is begun again
// from the agents' records, except one from the future, which is left alone.
const schemaVersion = 2

const schema = `
DROP TABLE IF EXISTS calls; DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS windows; DROP TABLE IF EXISTS places;
CREATE TABLE calls (key INTEGER PRIMARY KEY, place INTEGER NOT NULL, at INTEGER NOT NULL, summed INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX sums ON calls (place) WHERE summed = 1;
CREATE TABLE places (id INTEGER PRIMARY KEY, agent TEXT NOT NULL, session TEXT NOT NULL, project TEXT NOT NULL, model TEXT NOT NULL);
CREATE TABLE files (path TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE windows (agent TEXT NOT NULL, name TEXT NOT NULL, used REAL NOT NULL, length INTEGER NOT NULL,
	resets INTEGER NOT NULL, plan TEXT NOT NULL, learned INTEGER NOT NULL, PRIMARY KEY (agent, name)) WITHOUT ROWID;
`

// Store keeps every call once. One goroutine writes; any may read.
type Store struct {
	db     *sql.DB
	prices func() *Prices
	path   string
	spots  spots
}

// OpenStore opens the store, and creates it if there is none. A file that isn't a database is set
// aside.
func OpenStore(path string, prices func() *Prices) (*Store, error) {
	s := &Store{path: path, prices: prices}
	err := s.open()
	if isBroken(err) {
		if _, aside := files.SetAside(path); aside != nil {
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

// isBroken reports whether a file is no database, or a damaged one. One that can't be
// opened right now, as on a full disk, isn't.
func isBroken(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

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
		return err
	}
	switch {
	case version > schemaVersion:
		db.Close()
		return errors.New("a newer hookmux wrote it; use that one, or remove the file")
	case version < schemaVersion:
		if _, err := db.Exec(schema + fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
			db.Close()
			return err
		}
	}
	if err := s.spots.load(db); err != nil {
		db.Close()
		return err
	}
	s.db = db
	return nil
}

// Close closes the store.
func (s *Store) Close() error { return s.db.Close() }

// Positions returns how far each file has been read.
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

// Windows returns how much of each plan is known to be used.
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
const maxPending = 32768

// batch collects calls and writes them at once. Copies of a call that come soon after
// each other are put together before.
type batch struct {
	store   *Store
	tx      *sql.Tx
	find    *sql.Stmt
	put     *sql.Stmt
	putMany *sql.Stmt
	putSum  *sql.Stmt
	spot    *sql.Stmt
	pending []pendingCall
	first   map[int64]int32 // where pending has the first call of a base of keys
	spots   []int64         // that are new
	last    spot            // of the call before, with its number
	place   int64
	known   knownIDs // of a first import; nil: the store is asked
	// changed is called for every call that got larger.
	changed func(was, is *Call)
}

// knownIDs are the ids in the store, while everything in it comes from one import: most are
// new then, and the store needn't be asked. They are a Bloom filter, two bits for each id, so
// it takes as much memory for a long history as for a short one. An id whose bits others have
// set is looked up in the store, like every id otherwise: that takes time and changes no number.
type knownIDs []uint64

// With a million calls, one id in a hundred is looked up for nothing.
const knownBits = 24

func newKnownIDs() knownIDs { return make(knownIDs, 1<<knownBits/64) }

// addNew notes the base of a key, and reports whether it is new for sure.
func (k knownIDs) addNew(base int64) (fresh bool) {
	if k == nil {
		return false
	}
	for hash, n := uint64(base)/keySlots, 0; n < 2; hash, n = hash>>knownBits, n+1 {
		word, bit := &k[hash%(1<<knownBits)/64], uint64(1)<<(hash%64)
		fresh = fresh || *word&bit == 0
		*word |= bit
	}
	return fresh
}

type pendingCall struct {
	was   *Call // as it is stored; nil while it isn't
	is    Call
	key   int64
	place int64 // the number of its spot; 0: look it up
	next  int32 // the next call of the same base; noCall: none
	dirty bool
}

const noCall = -1

func (s *Store) begin(ctx context.Context, changed func(was, is *Call)) (*batch, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	b := &batch{store: s, tx: tx, first: map[int64]int32{}, changed: changed}
	b.find, err = tx.PrepareContext(ctx, "SELECT "+callColumns+" FROM calls WHERE key BETWEEN ? AND ? ORDER BY key")
	if err == nil {
		b.put, err = tx.PrepareContext(ctx, putStatement(1, 0))
	}
	if err == nil {
		b.putMany, err = tx.PrepareContext(ctx, putStatement(putAtOnce, 0))
	}
	if err == nil {
		b.putSum, err = tx.PrepareContext(ctx, putStatement(1, 1))
	}
	if err == nil {
		b.spot, err = tx.PrepareContext(ctx, "INSERT INTO places VALUES (?,?,?,?,?)")
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
	if len(b.pending) >= maxPending { // not later: what waits is changed in place
		if err := b.flush(); err != nil {
			return err
		}
	}
	return b.count(&c, sameCall)
}

// count merges a call with the known one that is the same, or has it written.
func (b *batch) count(c *Call, same func(a, b *Call) bool) error {
	base := keyBase(c.Agent, c.ID, 0)
	at, err := b.callsOf(base, c)
	if err != nil {
		return err
	}
	last, calls := int32(noCall), 0
	for ; at != noCall; at = b.pending[at].next {
		p := &b.pending[at]
		if p.is.ID == c.ID && p.is.Agent == c.Agent && same(&p.is, c) {
			counted := p.was != nil && b.known == nil
			if merged := merge(p.is, *c, b.store.prices(), counted); merged != p.is {
				p.is, p.place, p.dirty = merged, 0, true
			}
			return nil
		}
		last, calls = at, calls+1
	}
	place, err := b.placeOf(c)
	b.append(base, last, pendingCall{is: *c, key: keyOf(c.Agent, c.ID, calls), place: place, dirty: true})
	return err
}

// append adds a call of a base after the last one.
func (b *batch) append(base int64, last int32, p pendingCall) (at int32) {
	at, p.next = int32(len(b.pending)), noCall
	b.pending = append(b.pending, p)
	if last == noCall {
		b.first[base] = at
	} else {
		b.pending[last].next = at
	}
	return at
}

// addSum adds what a total has beyond the calls that are known: today's part of it.
func (b *batch) addSum(c Call) error {
	if err := b.flush(); err != nil {
		return err
	}
	c.ID = c.Session + "@" + c.Model + "@" + dayOf(c.At)
	others, err := b.othersOf(&c)
	if err != nil {
		return err
	}
	c.Tokens, c.Cost = c.Tokens.Minus(others.Tokens), max(0, c.Cost-others.Cost)
	if c.Tokens.Total() == 0 {
		return nil
	}
	if err := b.count(&c, func(_, _ *Call) bool { return true }); err != nil {
		return err
	}
	return b.flush()
}

// summing are the agents that write down totals.
var summing = []string{"copilot", "droid", "goose"}

// othersOf returns the calls of a total's session and model that are known in addition to it.
func (b *batch) othersOf(c *Call) (others Call, err error) {
	if !slices.Contains(summing, c.Agent) {
		return others, nil
	}
	rows, err := b.tx.Query("SELECT "+callColumns+" FROM calls WHERE summed = 1 AND place IN (SELECT id FROM places WHERE "+
		"agent = ? AND session = ? AND model = ?)", c.Agent, c.Session, c.Model)
	if err != nil {
		return others, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := b.store.scanCall(rows)
		if err != nil {
			return others, err
		}
		if one.ID != c.ID {
			others.Tokens.Add(one.Tokens)
			others.Cost += one.Cost
		}
	}
	return others, rows.Err()
}

// callsOf returns where the calls of a base begin; almost every base has just one.
func (b *batch) callsOf(base int64, c *Call) (int32, error) {
	if at, ok := b.first[base]; ok {
		return at, nil
	}
	if b.known.addNew(base) {
		return noCall, nil
	}
	from := len(b.pending)
	last := int32(noCall)
	for n := 0; len(b.pending)-from == n*keySlots; n++ {
		if err := b.load(base, &last, keyBase(c.Agent, c.ID, n)); err != nil {
			return noCall, err
		}
		if len(b.pending) == from {
			return noCall, nil
		}
	}
	return int32(from), nil
}

// load adds the calls that are stored from a key on to those of a base.
func (b *batch) load(base int64, last *int32, from int64) error {
	rows, err := b.find.Query(from, from+keySlots-1)
	if err != nil {
		return err
	}
	defer rows.Close()
	for key := from; rows.Next(); key++ {
		c, err := b.store.scanCall(rows)
		if err != nil {
			return err
		}
		*last = b.append(base, *last, pendingCall{was: &c, is: c, key: key})
	}
	return rows.Err()
}

// sameCall reports whether two records with the same id are the same call.
func sameCall(a, b *Call) bool {
	return a.Request == b.Request || a.Request == "" || b.Request == "" || a.Replay || b.Replay
}

// merge combines two records of a call. Nothing gets smaller by it: of every number the larger
// one is used, and of two models the one that costs more. A model without a price stays, because
// what it cost isn't known. Once a call is counted, no record moves it to another session or
// project, or makes it cheaper by naming a cost.
func merge(was, more Call, prices *Prices, counted bool) Call {
	is := was
	is.Tokens = was.Tokens.atLeast(more.Tokens)
	if !counted {
		is.Cost = max(was.Cost, more.Cost)
	}
	is.Fast = was.Fast || more.Fast
	is.Window = max(was.Window, more.Window)
	switch {
	case was.Replay && !more.Replay && counted:
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
	if now, priced := prices.Cost(&is); priced && more.Cost > now {
		is.Cost = more.Cost
	}
	return is // and when it was: a later record can't move it to another day
}

// putAtOnce is how many calls one statement writes.
const putAtOnce = 128

// putStatement writes n calls, of agents that write down totals or not.
func putStatement(n, summed int) string {
	return "INSERT OR REPLACE INTO calls VALUES " + strings.TrimSuffix(strings.Repeat(fmt.Sprintf("(?,?,?,%d,?),", summed), n), ",")
}

// callValues is how many values of a call are bound.
const callValues = 4

// flush writes what waits, in the order of the table.
func (b *batch) flush() error {
	var list []*pendingCall
	for i := range b.pending {
		if p := &b.pending[i]; p.dirty {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(x, y *pendingCall) int { return cmp.Compare(x.key, y.key) })
	var text []byte
	values := make([]any, 0, putAtOnce*callValues)
	for some := range slices.Chunk(list, putAtOnce) {
		values, text = values[:0], text[:0]
		for _, p := range some {
			if p.place == 0 {
				var err error
				if p.place, err = b.placeOf(&p.is); err != nil {
					return err
				}
			}
			from := len(text)
			text = encode(text, &p.is)
			call := []any{p.key, p.place, p.is.At.UnixMilli(), text[from:len(text):len(text)]}
			if !slices.Contains(summing, p.is.Agent) {
				values = append(values, call...)
			} else if _, err := b.putSum.Exec(call...); err != nil {
				return err
			}
		}
		if err := b.write(values); err != nil {
			return err
		}
		if b.changed != nil {
			for _, p := range some {
				b.changed(p.was, &p.is)
			}
		}
	}
	clear(b.pending) // of what it points to
	b.pending = b.pending[:0]
	clear(b.first)
	return nil
}

// write writes the values of some calls.
func (b *batch) write(values []any) error {
	if len(values) == putAtOnce*callValues {
		_, err := b.putMany.Exec(values...)
		return err
	}
	for one := range slices.Chunk(values, callValues) {
		if _, err := b.put.Exec(one...); err != nil {
			return err
		}
	}
	return nil
}

// placeOf returns the number of a call's spot, which is written down if it's new. Most calls have
// that of the one before.
func (b *batch) placeOf(c *Call) (int64, error) {
	one := spotOf(c)
	if b.place != 0 && b.last == one {
		return b.place, nil
	}
	id, fresh := b.store.spots.number(one)
	if fresh {
		b.spots = append(b.spots, id)
		if _, err := b.spot.Exec(id, one.agent, one.session, one.project, one.model); err != nil {
			return 0, err
		}
	}
	b.last, b.place = one, id
	return id, nil
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
	err := b.flush()
	if err == nil {
		if err = b.tx.Commit(); err == nil {
			return nil
		}
	}
	b.rollback() // the first error says more
	return err
}

func (b *batch) rollback() {
	_ = b.tx.Rollback()
	b.store.spots.forget(b.spots)
}
