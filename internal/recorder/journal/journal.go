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
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Problem is something you should know about.
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

// Options change how a journal is opened; the zero value is right for a daemon.
type Options struct {
	// Readers bounds the connections queries share; 0 means 4.
	Readers int
	// Now is the clock, for tests.
	Now func() time.Time
	// Large says that many machines' events are stored here: it takes more memory, and carries its
	// log over less often.
	Large bool
	// Outbox reports whether what is stored from now on goes into the outbox; nil: no.
	Outbox func() bool
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

// Path returns the path of the journal.
func (j *Journal) Path() string { return j.path }

// Intact reports whether the file is still the one that was opened. If it was deleted or
// replaced, writes succeed and are lost.
func (j *Journal) Intact() bool {
	j.write.Lock()
	was := j.file
	j.write.Unlock()
	now, err := os.Stat(j.path)
	return err == nil && was != nil && os.SameFile(was, now)
}

// Newest returns the cursor of the newest event, 0 when there was none yet.
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

// Problems lists what you should know about: files moved aside since the journal was opened,
// and why writing fails at the moment, if it does.
func (j *Journal) Problems() []Problem {
	j.health.Lock()
	defer j.health.Unlock()
	all := append([]Problem(nil), j.lasting...)
	if j.err != nil {
		all = append(all, Problem{j.errSince, j.err.Error()})
	}
	return all
}
