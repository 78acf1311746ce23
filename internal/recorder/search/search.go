// Package search implements the full-text index of the journal: an SQLite file with an FTS5 table
// of words, by the cursor of the event they are in. It holds no text, can be deleted at
// any time, and is never on the way of an answer or of the journal's own writes.
package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"
)

// Text is the searchable text of one event.
type Text struct {
	Cursor int64
	Text   string
}

// Index is an open index. One goroutine writes; any may search.
type Index struct {
	path     string
	db       *sql.DB
	maxBytes int64
}

// MaxBytes is how large the file may become. Then the oldest events leave the index.
const MaxBytes = 256 << 20

// schema is the format of the file. One of another format is deleted and made again.
const schema = 1

const tables = `CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1,
		tokenize="unicode61 remove_diacritics 2");
	CREATE TABLE state(journal INTEGER NOT NULL, first INTEGER NOT NULL, through INTEGER NOT NULL);`

// Open opens the index of the journal with this identity and makes it where there is
// none, where it is damaged, or where it is another journal's.
func Open(path string, journal int64) (*Index, error) {
	x, err := open(path, journal)
	if err == nil || IsFull(err) {
		return x, err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return open(path, journal)
}

func open(path string, journal int64) (*Index, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // its mode is the log's, too
	if err != nil {
		return nil, err
	}
	f.Close()
	db, err := connect(path, "_pragma", "journal_mode(WAL)", "_pragma", "synchronous(NORMAL)",
		"_pragma", "wal_autocheckpoint(1000)", "_pragma", "journal_size_limit(4194304)", "_pragma", "cache_size(-2000)",
		"_txlock", "immediate")
	if err != nil {
		return nil, err
	}
	x := &Index{path: path, db: db, maxBytes: MaxBytes}
	if err := x.setUp(journal); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// OpenReadOnly opens an index to search it. It is nil where there is none for this
// journal.
func OpenReadOnly(path string, journal int64) (*Index, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := connect(path, "mode", "ro", "_pragma", "query_only(1)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	x := &Index{path: path, db: db}
	if belongs, err := x.belongsTo(journal); err != nil || !belongs {
		db.Close()
		return nil, err
	}
	return x, nil
}

func connect(path string, pairs ...string) (*sql.DB, error) {
	q := url.Values{"_pragma": {"busy_timeout(5000)"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Add(pairs[i], pairs[i+1])
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String())
	if err == nil {
		db.SetMaxOpenConns(3)
		db.SetMaxIdleConns(1)
		db.SetConnMaxIdleTime(time.Minute)
	}
	return db, err
}

func (x *Index) belongsTo(journal int64) (bool, error) {
	var version int
	if err := x.db.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != schema {
		return false, err
	}
	var of int64
	err := x.db.QueryRow("SELECT journal FROM state").Scan(&of)
	return of == journal, err
}

var errOther = errors.New("the index is another journal's")

func (x *Index) setUp(journal int64) error {
	var objects int
	if err := x.db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&objects); err != nil {
		return err
	}
	if objects > 0 {
		belongs, err := x.belongsTo(journal)
		if err == nil && !belongs {
			err = errOther
		}
		return err
	}
	return x.inTransaction(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec(tables+"INSERT INTO state VALUES (?, 0, 0); PRAGMA user_version = "+fmt.Sprint(schema), journal)
		return err
	})
}

// Close closes the index.
func (x *Index) Close() error { return x.db.Close() }

// Span names the events in the index: those after First, up to Through.
type Span struct{ First, Through int64 }

// Span says which events are in the index.
func (x *Index) Span(ctx context.Context) (s Span, err error) {
	err = x.db.QueryRowContext(ctx, "SELECT first, through FROM state").Scan(&s.First, &s.Through)
	return s, err
}

// Add puts the words of events into the index: of those with a text, and everything up
// to through is in it then. A failure leaves it as it was.
func (x *Index) Add(ctx context.Context, texts []Text, through int64) error {
	return x.inTransaction(ctx, func(tx *sql.Tx) error {
		if err := insert(ctx, tx, texts); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE state SET through = ?", through)
		return err
	})
}

func insert(ctx context.Context, tx *sql.Tx, texts []Text) error {
	add, err := tx.PrepareContext(ctx, "INSERT INTO words(rowid, text) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer add.Close()
	for _, t := range texts {
		if _, err := add.ExecContext(ctx, t.Cursor, t.Text); err != nil {
			return err
		}
	}
	return nil
}

func (x *Index) inTransaction(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// keepEvents is how many events one step of Shrink and Forget looks at.
const keepEvents = 5000

// Shrink takes the oldest events out of the index where it's too large.
func (x *Index) Shrink(ctx context.Context) error {
	for limit := x.maxBytes; ; limit = x.maxBytes - x.maxBytes/16 {
		var used int64
		err := x.db.QueryRowContext(ctx, `SELECT (p.page_count - f.freelist_count) * s.page_size
			FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`).Scan(&used)
		if err != nil || used <= limit {
			return err
		}
		var last sql.NullInt64
		if err := x.db.QueryRowContext(ctx, "SELECT max(id) FROM (SELECT id FROM words_docsize ORDER BY id LIMIT ?)",
			keepEvents).Scan(&last); err != nil || !last.Valid {
			return err
		}
		err = x.inTransaction(ctx, func(tx *sql.Tx) error {
			if _, err := tx.Exec("DELETE FROM words WHERE rowid <= ?", last.Int64); err != nil {
				return err
			}
			if _, err := tx.Exec("UPDATE state SET first = max(first, ?)", last.Int64); err != nil {
				return err
			}
			// What was deleted takes up room until its segments are merged.
			_, err := tx.Exec("INSERT INTO words(words) VALUES ('optimize')")
			return err
		})
		if err != nil {
			return err
		}
	}
}

// Forget takes events out of the index that the journal doesn't have any more. exist
// returns the cursors between two, both included, that it has.
func (x *Index) Forget(ctx context.Context, exist func(first, last int64) (map[int64]bool, error)) error {
	for at := int64(0); ; {
		ids, err := x.cursorsAfter(ctx, at)
		if err != nil || len(ids) == 0 {
			return err
		}
		at = ids[len(ids)-1]
		have, err := exist(ids[0], at)
		if err != nil {
			return err
		}
		err = x.inTransaction(ctx, func(tx *sql.Tx) error {
			for _, id := range ids {
				if have[id] {
					continue
				}
				if _, err := tx.ExecContext(ctx, "DELETE FROM words WHERE rowid = ?", id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

func (x *Index) cursorsAfter(ctx context.Context, at int64) (ids []int64, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT id FROM words_docsize WHERE id > ? ORDER BY id LIMIT ?", at, keepEvents)
	if err != nil {
		return nil, err
	}
	return readCursors(rows)
}

// Match returns the cursors between first and last, both included, of events with the
// words of q: at most limit, the newest first on request.
func (x *Index) Match(ctx context.Context, q Query, first, last int64, newest bool, limit int) ([]int64, error) {
	return match(ctx, x.db, q, first, last, newest, limit)
}

func match(ctx context.Context, db *sql.DB, q Query, first, last int64, newest bool, limit int) ([]int64, error) {
	order := "ASC"
	if newest {
		order = "DESC"
	}
	rows, err := db.QueryContext(ctx, "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid "+
		order+" LIMIT ?", string(q), first, last, limit)
	if err != nil {
		return nil, err
	}
	return readCursors(rows)
}

func readCursors(rows *sql.Rows) (list []int64, err error) {
	defer rows.Close()
	for rows.Next() {
		var one int64
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

// MatchTexts returns the cursors of the texts with the words of q, in their order, for
// texts that no index has yet. It means the same as [Index.Match]: SQLite itself looks.
func MatchTexts(ctx context.Context, q Query, texts []Text) ([]int64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	if _, err := db.ExecContext(ctx, tables); err != nil {
		return nil, err
	}
	x := &Index{db: db}
	if err := x.inTransaction(ctx, func(tx *sql.Tx) error { return insert(ctx, tx, texts) }); err != nil {
		return nil, err
	}
	found, err := match(ctx, db, q, 0, 1<<62, false, len(texts))
	if err != nil {
		return nil, err
	}
	hit := make(map[int64]bool, len(found))
	for _, one := range found {
		hit[one] = true
	}
	list := found[:0]
	for _, t := range texts {
		if hit[t.Cursor] {
			list = append(list, t.Cursor)
		}
	}
	return list, nil
}

// Query is a search in FTS5's language.
type Query string

// ErrNoWords says that a text has nothing to search for.
var ErrNoWords = errors.New("there is no word to search for; use letters or digits")

// ParseQuery reads a text as you'd type it: all of its words must occur, each at the
// beginning of a word; "double quotes" keep words together. Whatever joins words without
// a space keeps them together as well: src/main.go.
func ParseQuery(text string) (Query, error) {
	var terms []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			terms = appendTerm(terms, part, "")
			continue
		}
		for word := range strings.FieldsSeq(part) {
			terms = appendTerm(terms, word, "*")
		}
	}
	if len(terms) == 0 {
		return "", ErrNoWords
	}
	return Query(strings.Join(terms, " AND ")), nil
}

func appendTerm(terms []string, text, suffix string) []string {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return terms
	}
	return append(terms, `"`+strings.ReplaceAll(text, "\x00", " ")+`"`+suffix)
}

// IsFull reports whether err says that the disk is full.
func IsFull(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL
}
