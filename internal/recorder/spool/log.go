package spool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
)

// maxSegment is the size beyond which a Log begins a new file.
const maxSegment = 4 << 20

// Log is the intake: an append-only sequence of files, each removed as a
// whole once its records are in the journal. Its methods may be called from
// several goroutines. The segment that is written to is locked, so that another
// daemon on the same folder (whose runtime folder was removed, say) takes it for
// what it is: see Claim.
type Log struct {
	dir string

	mu   sync.Mutex
	file *os.File // nil while no segment could be opened, and after Close
	n    uint64   // of the current or last segment
	size int64
	done bool

	buffers sync.Pool
}

// Segment is one file of a Log.
type Segment struct {
	N      uint64
	Path   string
	Closed bool // nothing will be appended any more
}

// ErrClosed is returned by Append after Close.
var ErrClosed = errors.New("spool: log is closed")

// OpenLog opens the log in dir, creating the directory if need be. Segments
// that another process left are there as closed ones; this one begins its own,
// so that it never writes behind a torn tail.
func OpenLog(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	l := &Log{dir: dir}
	old, err := l.list()
	if err != nil {
		return nil, err
	}
	if len(old) > 0 {
		l.n = old[len(old)-1].N
	}
	l.buffers.New = func() any { return new([]byte) }
	return l, l.openSegment()
}

// openSegment opens the next segment. Its number is the time in nanoseconds, or the
// number after the last one if the clock was set back: no daemon gives the number of a
// segment that another daemon has removed to a new one. The caller holds the lock or is
// alone.
func (l *Log) openSegment() error {
	made := false
	for {
		next := max(l.n+1, uint64(time.Now().UnixNano()))
		f, err := os.OpenFile(l.path(next), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			l.n = next
			continue
		}
		if errors.Is(err, os.ErrNotExist) && !made {
			made = true // somebody removed the folder
			if err := os.MkdirAll(l.dir, 0o700); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		l.n = next
		// Another daemon that found the file before it was locked may be about to
		// remove it.
		if !lockFile(f) || !isNamed(f, l.path(l.n)) {
			_ = f.Close() // nothing was written to it
			continue
		}
		l.file, l.size = f, 0
		return nil
	}
}

// isNamed reports whether path still leads to an open file. Only a file that is
// certainly another one counts as gone.
func isNamed(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return true
	}
	named, err := os.Lstat(path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return os.SameFile(open, named)
}

// Claim takes a segment for storing and removing it. It is false while a living
// process writes to it or stores it.
func Claim(path string) (release func(), ok bool) {
	f, err := files.Open(path)
	if err != nil {
		return func() {}, true // whoever reads it finds out what is wrong with it
	}
	if !lockFile(f) {
		_ = f.Close() // only opened
		return nil, false
	}
	return func() { _ = f.Close() }, true
}

func (l *Log) path(n uint64) string {
	return filepath.Join(l.dir, "intake-"+strconv.FormatUint(n, 10)+".log")
}

// keepBuffer bounds what the pool holds on to after a large record.
const keepBuffer = 256 << 10

// Append writes one record and names the segment it went to. When it returns
// nil the record survives the death of this process.
func (l *Log) Append(rec *Record) (seg uint64, err error) {
	pooled := l.buffers.Get().(*[]byte)
	buf := Append((*pooled)[:0], rec)
	seg, err = l.write(buf)
	if cap(buf) <= keepBuffer {
		*pooled = buf
		l.buffers.Put(pooled)
	}
	return seg, err
}

func (l *Log) write(buf []byte) (uint64, error) {
	if len(buf) > spoolrecord.HeadSize+spoolrecord.MaxBody {
		return 0, errors.New("spool: record is larger than 20 MiB; cut its payload")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return 0, ErrClosed
	}
	if l.file == nil || l.size > 0 && l.size+int64(len(buf)) > maxSegment {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(buf)
	if err == nil {
		l.size += int64(n)
		return l.n, nil
	}
	// Part of the record may be there. Taken back, the next one follows a
	// whole record; if that fails too, the next one goes to a new file.
	if n > 0 && l.file.Truncate(l.size) != nil {
		l.size += int64(n)
		l.close()
	}
	return 0, err
}

// Rotate closes the current segment, so that it can be drained and removed, and starts
// another. A segment without records stays the current one, unless its file was removed:
// what is written to that would never be found.
func (l *Log) Rotate() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return ErrClosed
	}
	if l.file != nil && l.size == 0 && isNamed(l.file, l.path(l.n)) {
		return nil
	}
	return l.rotate()
}

func (l *Log) rotate() error {
	l.close()
	return l.openSegment()
}

func (l *Log) close() {
	if l.file != nil {
		_ = l.file.Close() // nothing is buffered: every write has already said how it went
		l.file = nil
	}
}

// Current returns the number of the segment that Append writes to and its size.
func (l *Log) Current() (n uint64, size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n, l.size
}

// Segments lists the files, oldest first.
func (l *Log) Segments() ([]Segment, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list()
}

func (l *Log) list() ([]Segment, error) {
	names, err := spoolrecord.NamesIn(l.dir)
	if err != nil {
		return nil, err
	}
	var all []Segment
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, "intake-")
		digits, ok2 := strings.CutSuffix(digits, ".log")
		n, err := strconv.ParseUint(digits, 10, 64)
		if !ok || !ok2 || err != nil {
			continue
		}
		all = append(all, Segment{N: n, Path: filepath.Join(l.dir, name), Closed: l.file == nil || n != l.n})
	}
	slices.SortFunc(all, func(a, b Segment) int {
		if a.N < b.N {
			return -1
		}
		return 1
	})
	return all, nil
}

// Remove deletes a closed segment; one that is gone already is fine.
func (l *Log) Remove(n uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && n == l.n {
		return errors.New("spool: segment " + strconv.FormatUint(n, 10) + " is still written to; rotate first")
	}
	if err := os.Remove(l.path(n)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Close ends the log. An empty last segment is removed.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return nil
	}
	l.done = true
	empty := l.file != nil && l.size == 0
	l.close()
	if empty {
		return os.Remove(l.path(l.n))
	}
	return nil
}

// lockFile takes the lock of an open file, until that is closed or this process is gone.
// It is false when another open file has it; where files cannot be locked it is true.
func lockFile(f *os.File) bool { return !errors.Is(files.TryLock(f), files.ErrHeld) }
