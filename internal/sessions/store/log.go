package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// Entry is the state of one key; a nil Value takes it out.
type Entry struct {
	Key   string          `json:"k"`
	Value json.RawMessage `json:"v"`
}

// Log is an open file that keeps the latest state of many small things: a line for each
// change, of which the last for a key applies. It is for one goroutine at a time.
//
// Changes are appended with one write(2) and no fsync, so they survive the death of the
// program, not a power cut. The cost depends on what changed, never on how much there is;
// now and then the file is rewritten without its outdated lines. A line that was cut off or
// can't be read costs that line alone.
type Log struct {
	// Aside is where something was put that stood in the place of the file; ""
	// when nothing did.
	Aside string

	path    string
	file    *os.File
	size    int64
	sizes   map[uint64]int64 // of the lines that count, by the sum of their keys
	seed    maphash.Seed
	live    int64
	minimum int64 // below this the file is left as it is
}

// defaultMinimum is small enough not to matter on any disk.
const defaultMinimum = 1 << 20

// OpenLog reads a file, creates it if it's missing, and passes each current state to each,
// in no order. Skipped are lines that couldn't be read.
func OpenLog(path string, each func(Entry)) (l *Log, skipped int, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, 0, err
	}
	aside, err := setMisfitAside(path)
	if err != nil {
		return nil, 0, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, err
	}
	b, err := io.ReadAll(io.LimitReader(file, maxSize))
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	l = &Log{Aside: aside, path: path, file: file, size: int64(len(b)), sizes: map[uint64]int64{},
		seed: maphash.MakeSeed(), minimum: defaultMinimum}
	latest, skipped := parse(b, l.countEntry)
	if n := len(b); n > 0 && b[n-1] != '\n' {
		// What follows must not hang on a line that was cut off.
		if _, err := l.file.WriteAt([]byte("\n"), l.size); err != nil {
			file.Close()
			return nil, skipped, err
		}
		l.size++
	}
	for _, e := range latest {
		if !isNull(e.Value) {
			each(e)
		}
	}
	return l, skipped, nil
}

// ReadLog passes each current state to each, in no order, and changes nothing. A missing
// file has none.
func ReadLog(path string, each func(Entry)) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxSize))
	if err != nil {
		return err
	}
	latest, _ := parse(b, func(Entry, int64) {})
	for _, e := range latest {
		if !isNull(e.Value) {
			each(e)
		}
	}
	return nil
}

// parse reads the lines of a file; the last one for a key is current.
func parse(b []byte, count func(e Entry, size int64)) (latest map[string]Entry, skipped int) {
	latest = map[string]Entry{}
	for rest := b; len(rest) > 0; {
		line, more, whole := bytes.Cut(rest, []byte("\n"))
		rest = more
		var e Entry
		if !whole || json.Unmarshal(line, &e) != nil || e.Key == "" {
			if len(bytes.TrimSpace(line)) > 0 {
				skipped++
			}
			continue
		}
		latest[e.Key] = e
		count(e, int64(len(line)+1))
	}
	return latest, skipped
}

// maxSize is more than the file ever grows to.
const maxSize = 256 << 20

// setMisfitAside takes out of the way what is no regular file, or larger than
// one of ours.
func setMisfitAside(path string) (aside string, err error) {
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() || info.Mode().IsRegular() && info.Size() <= maxSize {
		return "", nil // one that is missing is made, and opening a folder fails
	}
	return files.SetAside(path)
}

func isNull(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

// countEntry tracks what is outdated. It only decides when to rewrite the file, so two keys
// with one sum would do no harm.
func (l *Log) countEntry(e Entry, size int64) {
	key := maphash.String(l.seed, e.Key)
	l.live -= l.sizes[key]
	delete(l.sizes, key)
	if !isNull(e.Value) {
		l.sizes[key] = size
		l.live += size
	}
}

// Append writes changes down.
func (l *Log) Append(entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if l.gone() {
		return errGone
	}
	var b []byte
	for _, e := range entries {
		line, err := appendLine(b, e)
		if err != nil {
			return err
		}
		l.countEntry(e, int64(len(line)-len(b)))
		b = line
	}
	n, err := l.file.WriteAt(b, l.size)
	if err != nil {
		// Whatever came of it is overwritten by the next.
		return fmt.Errorf("%s: %w", l.path, err)
	}
	l.size += int64(n)
	return nil
}

var errGone = errors.New("the file was deleted or replaced")

// gone reports whether the file was removed.
func (l *Log) gone() bool {
	there, err := os.Stat(l.path)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	ours, err := l.file.Stat()
	return err == nil && !os.SameFile(there, ours)
}

func appendLine(b []byte, e Entry) ([]byte, error) {
	if isNull(e.Value) {
		e.Value = nil // "null", also for an empty one
	}
	if e.Value == nil || bytes.ContainsAny(e.Value, "\n\r") {
		line, err := json.Marshal(e)
		if err != nil {
			return b, err
		}
		return append(append(b, line...), '\n'), nil
	}
	// The value is on one line already, which is the common case: it need not
	// be read again only to be written.
	key, err := json.Marshal(e.Key)
	if err != nil {
		return b, err
	}
	b = append(append(b, `{"k":`...), key...)
	b = append(append(b, `,"v":`...), e.Value...)
	return append(b, "}\n"...), nil
}

// Full reports whether the file is mostly outdated, so that rewriting it pays.
func (l *Log) Full() bool { return l.size > l.minimum && l.size > 4*l.live }

// Rewrite rewrites the file with exactly these states.
func (l *Log) Rewrite(entries []Entry) error {
	tmp, err := os.CreateTemp(filepath.Dir(l.path), "."+filepath.Base(l.path)+"-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	sizes, total := map[uint64]int64{}, int64(0)
	var b []byte
	for _, e := range entries {
		line, err := appendLine(b[:0], e)
		if err == nil {
			_, err = tmp.Write(line)
		}
		if err != nil {
			tmp.Close()
			return err
		}
		sizes[maphash.String(l.seed, e.Key)] = int64(len(line))
		total += int64(len(line))
		b = line
	}
	if err := os.Rename(tmp.Name(), l.path); err != nil {
		tmp.Close()
		return err
	}
	l.file.Close()
	l.file, l.size, l.live, l.sizes = tmp, total, total, sizes
	return nil
}

// Close ends it.
func (l *Log) Close() error { return l.file.Close() }
