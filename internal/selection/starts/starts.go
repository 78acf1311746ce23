// Package starts remembers in which folder each session of an agent was first heard
// of, on disk: for the next hub, and for a call that is judged while none answers.
//
// Contract: the first folder of a session counts for good. Several programs may note
// and read at once, without a lock that one could hold against the others: a note is a
// line that is appended in one piece, and the first line of a session counts.
package starts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/hookmux/hookmux/internal/boundedmap"
	"github.com/hookmux/hookmux/internal/platform/atomicfile"
)

// The file, and its bounds. A line has some 80 bytes.
const (
	fileName = "starts.log"
	maxFile  = 512 << 10 // bytes; of a larger file the later half is kept
	// maxFolder is the longest path there is. What is longer is no folder.
	maxFolder   = 4096
	keepRecent  = 1024 // sessions that are found without a hash
	keepUnsaved = 1024
)

// ErrUnreadable says that what stands in the place of the file is no file.
var ErrUnreadable = errors.New("the notes of where sessions started are not in a plain file")

// Session names a session of an agent.
type Session struct{ Agent, ID string }

// sessionKey stands for a session, whose id may be as long as anything.
type sessionKey [12]byte

func keyOf(s Session) (key sessionKey) {
	sum := sha256.Sum256([]byte(s.Agent + "\x00" + s.ID))
	copy(key[:], sum[:])
	return key
}

// Log is the file, and what was read of it. It may be used by several goroutines.
type Log struct {
	path     string
	shortens bool

	mu      sync.Mutex // guards the maps; nothing waits for a disk under it
	recent  boundedmap.Map[Session, string]
	folders map[sessionKey]string // what the file says, and what it does not say yet
	unsaved boundedmap.Map[sessionKey, string]

	disk     sync.Mutex // guards what follows, and is taken before mu
	file     *os.File   // nil until a note is written or read
	writable bool
	size     int64 // how much of it was read
	torn     bool  // what was read ends within a line
}

// New is the log in a state folder, for a program that asks about few sessions. Nothing
// is read before it is asked.
func New(state string) *Log {
	return &Log{path: filepath.Join(state, fileName), folders: map[sessionKey]string{}}
}

// NewForHub is New for the hub, which also keeps the file from growing.
func NewForHub(state string) *Log {
	l := New(state)
	l.shortens = true
	return l
}

// Remember is the folder that a session started in, which is this one if nobody heard
// of the session before. With an error, which is told once, the folder counts as long
// as this program runs, and is written down as soon as that is possible.
func (l *Log) Remember(s Session, folder string) (string, error) {
	if known, ok := l.recentFolder(s); ok {
		return known, nil
	}
	if len(folder) > maxFolder {
		folder = ""
	}
	key := keyOf(s)
	l.disk.Lock()
	defer l.disk.Unlock()
	if known, ok := l.knownFolder(s, key); ok {
		return known, nil
	}
	l.mu.Lock()
	if oldest, _, full := l.unsaved.Put(key, folder, keepUnsaved); full {
		delete(l.folders, oldest)
	}
	l.mu.Unlock()
	err := l.writeUnsaved()
	if known, ok := l.knownFolder(s, key); ok {
		return known, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.folders[key] = folder
	l.recent.Put(s, folder, keepRecent)
	return folder, err
}

// recentFolder is the folder of a session that was asked for a moment ago.
func (l *Log) recentFolder(s Session) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recent.Get(s)
}

// knownFolder is the folder of a session that was read or noted.
func (l *Log) knownFolder(s Session, key sessionKey) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	folder, ok := l.folders[key]
	if ok {
		l.recent.Put(s, folder, keepRecent)
	}
	return folder, ok
}

// Known is the folder of a session that this program was told of.
func (l *Log) Known(s Session) (string, bool) {
	if folder, ok := l.recentFolder(s); ok {
		return folder, true
	}
	return l.knownFolder(s, keyOf(s))
}

// Read is the folder that a session started in; fs.ErrNotExist for a session nobody
// heard of.
func (l *Log) Read(s Session) (string, error) {
	l.disk.Lock()
	defer l.disk.Unlock()
	if err := l.readOn(false); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if folder, ok := l.knownFolder(s, keyOf(s)); ok {
		return folder, nil
	}
	return "", fs.ErrNotExist
}

// Save writes down what could not be written before.
func (l *Log) Save() error {
	if l.AllSaved() {
		return nil
	}
	l.disk.Lock()
	defer l.disk.Unlock()
	return l.writeUnsaved()
}

// AllSaved reports whether everything that was to be remembered is on disk.
func (l *Log) AllSaved() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unsaved.Len() == 0
}

// Close closes the file.
func (l *Log) Close() {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.closeFile()
}

func (l *Log) closeFile() {
	if l.file != nil {
		_ = l.file.Close() // every write has already said how it went
	}
	l.file, l.writable, l.size, l.torn = nil, false, 0, false
}

// writeUnsaved writes down what is not yet, unless another program was first. What was
// written counts when it is read back: the file may have been shortened meanwhile, or
// another program's half line may stand before it. Only where nobody else wrote there
// is nothing to read.
func (l *Log) writeUnsaved() error {
	defer l.shorten()
	for attempt := range 6 {
		if !l.writable || attempt > 0 {
			if err := l.readOn(true); err != nil {
				return l.readInstead(err)
			}
		}
		lines := l.unsavedLines()
		if len(lines) == 0 {
			return nil
		}
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

// readInstead reads a file that cannot be written: what it says still counts.
func (l *Log) readInstead(why error) error {
	if err := l.readOn(false); err != nil || !l.AllSaved() {
		return why
	}
	return nil
}

// unsavedLines are the notes that are not written down.
func (l *Log) unsavedLines() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []byte
	if l.torn && l.unsaved.Len() > 0 { // another program was killed, or its disk was full
		lines = append(lines, '\n')
	}
	for key, folder := range l.unsaved.All() {
		lines = append(hex.AppendEncode(lines, key[:]), ' ')
		lines = append(strconv.AppendQuote(lines, folder), '\n')
	}
	return lines
}

// isNamed reports whether the open file, of which info tells, is still the one of that
// name.
func (l *Log) isNamed(info os.FileInfo) bool {
	named, err := os.Lstat(l.path)
	return err == nil && os.SameFile(info, named)
}

// readOn opens the file where need be, and reads what was appended since.
func (l *Log) readOn(write bool) error {
	if l.file != nil {
		if info, err := l.file.Stat(); err != nil || !l.isNamed(info) || write && !l.writable {
			l.closeFile()
		}
	}
	if l.file == nil {
		file, err := openFile(l.path, write)
		if err != nil {
			return err
		}
		l.file, l.writable = file, write
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < l.size { // somebody emptied it
		l.size, l.torn = 0, false
	}
	// No hub lets it grow like that: of what others put there the end is read.
	l.size = max(l.size, info.Size()-4*maxFile)
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

// openFile opens the file; to be written, it is made with its folder where need be.
func openFile(path string, write bool) (*os.File, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, ErrUnreadable
	}
	if !write {
		return os.Open(path)
	}
	if err != nil {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
}

// takeLines keeps what lines say of sessions that nothing was said of before. A line
// that is not whole says nothing.
func (l *Log) takeLines(lines []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(lines) {
		digits, quoted, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		var key sessionKey
		if !ok || len(digits) != hex.EncodedLen(len(key)) {
			continue
		}
		if _, err := hex.Decode(key[:], digits); err != nil {
			continue
		}
		folder, err := strconv.Unquote(string(quoted))
		if err != nil {
			continue
		}
		l.unsaved.Delete(key)
		if _, known := l.folders[key]; !known {
			l.folders[key] = folder
		}
	}
}

// shorten writes the file anew with the later half of its lines if it is too large.
// Where that fails the file stays as it is until the next note.
func (l *Log) shorten() {
	if !l.shortens || l.file == nil || l.size <= maxFile {
		return
	}
	half := make([]byte, maxFile/2)
	if _, err := l.file.ReadAt(half, l.size-int64(len(half))); err != nil {
		return
	}
	half = half[bytes.IndexByte(half, '\n')+1:]
	if atomicfile.Write(l.path, half) != nil {
		return
	}
	// What others appended to the old file since goes to the new one. Whoever appends
	// to the old one from now on sees that it is not the file of that name.
	late, err := io.ReadAll(io.NewSectionReader(l.file, l.size, maxFile))
	if err == nil && len(late) > 0 {
		if file, err := openFile(l.path, true); err == nil {
			_, _ = file.Write(late) // their writers look whether it is there
			_ = file.Close()
		}
	}
	l.mu.Lock()
	clear(l.folders)
	for key, folder := range l.unsaved.All() {
		l.folders[key] = folder
	}
	l.mu.Unlock()
	l.closeFile()
	_ = l.readOn(true) // else the next note reads it
}
