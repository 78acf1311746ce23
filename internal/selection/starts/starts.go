// Package starts remembers in which folder each session of an agent was first heard
// of, on disk: for the next hub, and for a call that is judged while none answers.
//
// Contract: the first folder of a session counts for good. Several programs may note
// and read at once, without a lock that one could hold against the others: a note is a
// line that is appended in one piece, and the first line of a session counts.
package starts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/hookmux/hookmux/internal/boundedmap"
	"github.com/hookmux/hookmux/internal/platform/atomicfile"
)

// The file, and its bounds.
const (
	fileName = "starts.log"
	most     = 4096    // sessions that are remembered
	maxFile  = 2 << 20 // bytes; in a larger file the sessions heard of last are kept
)

// ErrUnreadable says that there are notes which cannot be read.
var ErrUnreadable = errors.New("the notes of where sessions started cannot be read")

// Session names a session of an agent.
type Session struct{ Agent, ID string }

// note is a line of the file.
type note struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Folder  string `json:"folder"`
}

// Log is the file, and what was read of it. It may be used by several goroutines.
type Log struct {
	path string

	mu      sync.Mutex
	file    *os.File // nil until a note is written or read
	size    int64    // how much of it was read
	torn    bool     // what was read ends within a line
	folders boundedmap.Map[Session, string]
	unsaved boundedmap.Map[Session, string] // notes that could not be written down
}

// New is the log in a state folder. Nothing is read before it is asked.
func New(state string) *Log { return &Log{path: filepath.Join(state, fileName)} }

// Remember is the folder that a session started in, which is this one if nobody heard
// of the session before. With an error, which is told once, the folder counts as long
// as this program runs, and is written down as soon as that is possible.
func (l *Log) Remember(s Session, folder string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.folders.Get(s); ok {
		return known, nil
	}
	l.unsaved.Put(s, folder, most)
	err := l.writeUnsaved()
	if known, ok := l.folders.Get(s); ok {
		return known, err
	}
	l.folders.Put(s, folder, most)
	return folder, err
}

// Save writes down what could not be written before.
func (l *Log) Save() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unsaved.Len() == 0 {
		return nil
	}
	return l.writeUnsaved()
}

// AllSaved reports whether everything that was to be remembered is on disk.
func (l *Log) AllSaved() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unsaved.Len() == 0
}

// Known is the folder of a session that this program was told of.
func (l *Log) Known(s Session) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.folders.Get(s)
}

// Read is the folder that a session started in; fs.ErrNotExist for a session nobody
// heard of.
func (l *Log) Read(s Session) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.readOn(os.O_RDONLY); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if folder, ok := l.folders.Get(s); ok {
		return folder, nil
	}
	return "", fs.ErrNotExist
}

// Close closes the file.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeFile()
}

func (l *Log) closeFile() {
	if l.file != nil {
		_ = l.file.Close() // every write has already said how it went
	}
	l.file, l.size, l.torn = nil, 0, false
}

// writeUnsaved writes down what is not yet, unless another program was first. What was
// written counts when it is read back: the file may have been shortened meanwhile, or
// another program's half line may stand before it. Only where nobody else wrote there
// is nothing to read.
func (l *Log) writeUnsaved() error {
	for attempt := range 6 {
		if l.file == nil || attempt > 0 {
			if err := l.readOn(os.O_RDWR | os.O_APPEND | os.O_CREATE); err != nil {
				return err
			}
		}
		if l.unsaved.Len() == 0 {
			return l.shorten()
		}
		lines := l.unsavedLines()
		if _, err := l.file.Write(lines); err != nil {
			return err
		}
		info, err := l.file.Stat()
		if err == nil && !l.torn && info.Size() == l.size+int64(len(lines)) && l.isNamed(info) {
			l.size = info.Size()
			l.takeLines(lines)
		}
	}
	return errors.New("what is written to " + l.path + " is not there afterwards")
}

// unsavedLines are the notes that are not written down.
func (l *Log) unsavedLines() []byte {
	var lines []byte
	if l.torn { // another program was killed, or its disk was full
		lines = append(lines, '\n')
	}
	for s, folder := range l.unsaved.All() {
		lines = appendLine(lines, s, folder)
	}
	return lines
}

func appendLine(to []byte, s Session, folder string) []byte {
	line, err := json.Marshal(note{s.Agent, s.ID, folder})
	if err != nil {
		return to // three strings always marshal
	}
	return append(append(to, line...), '\n')
}

// isNamed reports whether the open file, of which info tells, is still the one of that
// name.
func (l *Log) isNamed(info os.FileInfo) bool {
	named, err := os.Lstat(l.path)
	return err == nil && os.SameFile(info, named)
}

// readOn opens the file where need be, and reads what was appended since.
func (l *Log) readOn(flags int) error {
	if l.file != nil {
		if info, err := l.file.Stat(); err != nil || !l.isNamed(info) {
			l.closeFile()
		}
	}
	if l.file == nil {
		info, err := os.Lstat(l.path)
		if err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
			return ErrUnreadable
		}
		if l.file, err = openFile(l.path, flags); err != nil {
			return err
		}
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < l.size { // somebody emptied it
		l.size, l.torn = 0, false
	}
	if info.Size() == l.size {
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(l.file, l.size, info.Size()-l.size))
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	l.torn = end < len(data)
	l.size += int64(end)
	l.takeLines(data[:end])
	return nil
}

// openFile opens the file, in a folder that is made where it has to be written.
func openFile(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) && flags&os.O_CREATE != 0 {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		file, err = os.OpenFile(path, flags, 0o600)
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// takeLines keeps what lines say of sessions that nothing was said of before. A line
// that is not whole says nothing.
func (l *Log) takeLines(lines []byte) {
	for line := range bytes.Lines(lines) {
		var n note
		if json.Unmarshal(line, &n) != nil || n.Session == "" {
			continue
		}
		s := Session{n.Agent, n.Session}
		l.unsaved.Delete(s)
		if !l.folders.Has(s) {
			l.folders.Put(s, n.Folder, most)
		}
	}
}

// shorten writes the file anew with the later half of its lines if it is too large.
func (l *Log) shorten() error {
	if l.size <= maxFile {
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(l.file, 0, l.size))
	if err != nil {
		return err
	}
	half := data[len(data)/2:]
	if err := atomicfile.Write(l.path, half[bytes.IndexByte(half, '\n')+1:]); err != nil {
		return err
	}
	// What others appended to the old file since goes to the new one. Whoever appends
	// to the old one from now on sees that it is not the current one.
	late, err := io.ReadAll(io.NewSectionReader(l.file, l.size, maxFile))
	if err != nil || len(late) == 0 {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(late)
	return errors.Join(err, file.Close())
}
