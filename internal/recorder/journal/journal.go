// Package journal keeps what agents reported and what came of it, in one
// SQLite file.
//
// Contract: one [Journal] writes; a batch is stored whole or not at all, and
// an id is stored once however often it is handed in, so a caller may simply
// repeat a batch whose fate it does not know. Cursors strictly grow and are
// never given twice, so a reader can go on where it stopped. Whatever arrives
// here was redacted before. Nothing here is on the way of an agent's answer:
// a journal that cannot write returns an error, says so in [Journal.Problems]
// and works again once the cause is gone.
//
// Writing is the hot side, so it encodes nothing: the payload is stored as it
// is, what repeats from event to event is stored once beside it (see
// schema.go), and the reader puts the event together again.
package journal

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Row is one event as it is stored. Body is its payload: one JSON value,
// already redacted. What else the event says is decoded from it at reading.
type Row struct {
	ID   string
	Time time.Time // kept to the microsecond

	Agent, Kind, Native, Tool string
	Session, Cwd              string
	AgentVersion              string
	Caller                    string // who called the hook, when it was not Agent itself
	Host, Pane, TTY           string
	PID                       int
	Start                     uint64

	Nested, Truncated bool

	Body []byte
}

// Outcome is what came of an event, for events somebody had a say in. Its
// JSON parts are redacted before they come here. Verdict, By and Degraded
// stand beside Decision so that they can be searched for; left empty they are
// read out of it.
type Outcome struct {
	ID       string // the event's
	Time     time.Time
	Took     time.Duration
	Verdict  string // allow, deny, ask, modify, none
	By       string
	Degraded bool
	Decision json.RawMessage
	Steps    json.RawMessage // what each handler said
	Answer   json.RawMessage // what the agent was told
}

// Item is what [Journal.Write] takes: an event, an outcome, or both. The two
// may come in different batches and in any order.
type Item struct {
	Row     *Row
	Outcome *Outcome
}

// Stored is an event as it is read back.
type Stored struct {
	Cursor int64
	Row
	Outcome *Outcome // nil when nobody had a say
}

// Problem is something a person should hear about.
type Problem struct {
	Time time.Time
	Text string
}

// Health is the state of the journal at one moment.
type Health struct {
	Path     string
	Bytes    int64 // database and write-ahead log on disk
	Newest   int64 // cursor of the newest event, 0 when there was none
	Err      error // why the last write failed; nil when it did not
	Since    time.Time
	DiskFull bool
}

// Options change how a journal is opened; the zero value is right for a hub.
type Options struct {
	// Readers bounds the connections queries share; 0 means 4.
	Readers int
	// Now is the clock, for tests.
	Now func() time.Time
}

// ErrClosed is returned by everything called after [Journal.Close].
var ErrClosed = errors.New("journal: closed")

// Journal is an open journal. Its methods may be called from any goroutine.
type Journal struct {
	path string
	opts Options

	// write holds the one connection that writes and everything it
	// remembers. Queries never take it.
	write  sync.Mutex
	writer *writer
	closed atomic.Bool

	// readers is replaced when a broken file is moved aside.
	readersMu sync.RWMutex
	readers   *sql.DB

	// newest is the cursor up to which events are committed.
	newest atomic.Int64
	file   os.FileInfo // as it was opened

	health   sync.Mutex
	lasting  []Problem
	err      error
	errSince time.Time
}

// Open opens the journal at path and makes it when there is none. A file that
// is no usable database is moved aside and a new one begun; [Journal.Problems]
// tells. A file a newer hookmux wrote is left alone: [ErrNewer].
func Open(path string, opts Options) (*Journal, error) {
	if opts.Readers <= 0 {
		opts.Readers = 4
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	j := &Journal{path: path, opts: opts}
	err = j.openConnections()
	if isBroken(err) {
		if err = j.moveAside(err); err == nil {
			// How far the broken one had counted nobody knows, but surely
			// not to the milliseconds since 1970.
			j.newest.Store(opts.Now().UnixMilli())
			err = j.openConnections()
		}
	}
	if err != nil {
		return nil, explainAt(path, err)
	}
	return j, nil
}

// openConnections connects writer and readers. The caller holds write, or is Open.
func (j *Journal) openConnections() error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return err
	}
	// Made here rather than by SQLite, whose log files take the mode over:
	// what agents say is nobody else's business, whatever the umask.
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	j.file, err = f.Stat()
	f.Close()
	if err != nil {
		return err
	}

	readers, err := sql.Open("sqlite", sourceName(j.path,
		"mode", "ro", "_pragma", "busy_timeout(5000)", "_pragma", "query_only(1)", "_pragma", "cache_size(-2000)"))
	if err != nil {
		return err
	}
	readers.SetMaxOpenConns(j.opts.Readers)
	readers.SetMaxIdleConns(1)
	readers.SetConnMaxIdleTime(time.Minute)

	w, err := openWriter(readers.Driver(), sourceName(j.path))
	if err != nil {
		readers.Close()
		return err
	}
	// A file begun in the place of a broken one goes on counting where that
	// one ended, so that readers need not know.
	if floor := j.newest.Load(); w.next <= floor {
		if err := w.keepCounting(floor); err != nil {
			readers.Close()
			w.close()
			return err
		}
	}
	j.writer = w
	j.newest.Store(w.next - 1)
	j.readersMu.Lock()
	j.readers = readers
	j.readersMu.Unlock()
	return nil
}

func sourceName(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Add(pairs[i], pairs[i+1])
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String()
}

// Close finishes writing, carries the log over into the database and closes
// it. Queries under way end with an error at their next page.
func (j *Journal) Close() error {
	if j.closed.Swap(true) {
		return nil
	}
	j.write.Lock()
	defer j.write.Unlock()
	return j.closeConnections()
}

// closeConnections closes the connections, readers first: the last one out carries the
// log over. The caller holds write.
func (j *Journal) closeConnections() error {
	j.readersMu.Lock()
	if j.readers != nil {
		j.readers.Close()
		j.readers = nil
	}
	j.readersMu.Unlock()
	w := j.writer
	j.writer = nil
	if w == nil {
		return nil
	}
	return w.close()
}

// Path is where the journal lies.
func (j *Journal) Path() string { return j.path }

// Intact reports whether the file is still the one that was opened. Where
// somebody deleted or replaced it, writing goes on into nowhere without an
// error.
func (j *Journal) Intact() bool {
	j.write.Lock()
	was := j.file
	j.write.Unlock()
	now, err := os.Stat(j.path)
	return err == nil && was != nil && os.SameFile(was, now)
}

// Newest is the cursor of the newest event, 0 when there was none yet.
func (j *Journal) Newest() int64 { return j.newest.Load() }

// Health says how the journal does.
func (j *Journal) Health() Health {
	h := Health{Path: j.path, Newest: j.newest.Load()}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(j.path + suffix); err == nil {
			h.Bytes += info.Size()
		}
	}
	j.health.Lock()
	defer j.health.Unlock()
	h.Err, h.Since, h.DiskFull = j.err, j.errSince, isFull(j.err)
	return h
}

// Problems lists what a person should hear about: files moved aside since the
// journal was opened, and why writing fails at the moment, if it does.
func (j *Journal) Problems() []Problem {
	j.health.Lock()
	defer j.health.Unlock()
	all := append([]Problem(nil), j.lasting...)
	if j.err != nil {
		all = append(all, Problem{j.errSince, j.err.Error()})
	}
	return all
}

// noteResult remembers how the last write went.
func (j *Journal) noteResult(err error) {
	j.health.Lock()
	defer j.health.Unlock()
	if err != nil && j.err == nil {
		j.errSince = j.opts.Now()
	}
	j.err = err
}
