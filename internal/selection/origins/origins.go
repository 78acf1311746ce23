// Package origins remembers on disk in which folder each session of an agent started: for
// the next daemon, and for a call that is decided without one.
//
// The first folder of a session applies for good. Several programs may note and read at the
// same time, and none can lock out another: a note is a line appended in one piece, and the
// first line of a session applies.
package origins

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/files"
)

// The file, and its bounds.
const (
	fileName = "starts.log"
	// keepSessions is how many sessions are kept of twice as many: those that were
	// asked about last.
	keepSessions = 4096
	// maxFolder is how long a folder is written down. A session that says it starts in
	// a longer one starts in no project.
	maxFolder   = 1 << 10
	maxRead     = 16 << 20 // bytes; more than twice keepSessions have
	keepRecent  = 1024     // sessions that are found without a hash
	longID      = 256      // ids that are longer are not among them
	keepUnsaved = 1024
)

// ErrUnreadable says that the notes aren't in a plain file.
var ErrUnreadable = errors.New("the notes of where sessions started are not in a plain file")

// Session names a session of an agent.
type Session struct{ Agent, ID string }

// sessionKey represents a session, whose id may be of any length.
type sessionKey [12]byte

func keyOf(s Session) (key sessionKey) {
	sum := sha256.Sum256([]byte(s.Agent + "\x00" + s.ID))
	copy(key[:], sum[:])
	return key
}

// started is where a session started.
type started struct {
	folder string
	used   uint64 // when it was asked about last, in the order of questions
}

// Log is the file, and what was read of it. It may be used by several goroutines.
type Log struct {
	path     string
	shortens bool
	keep     int // sessions
	open     func(path string, write bool) (*os.File, error)

	mu       sync.Mutex // guards what follows; nothing waits for a disk under it
	recent   bounded.Map[Session, *started]
	sessions map[sessionKey]*started // what the file says, and what it does not say yet
	unsaved  bounded.Map[sessionKey, string]
	asked    uint64 // questions so far

	disk     sync.Mutex // guards what follows, and is taken before mu
	file     *os.File   // nil until a note is written or read
	writable bool
	size     int64 // how much of it was read
	torn     bool  // what was read ends within a line
}

// New returns the log in a state folder, for a program that asks about few sessions. Nothing
// is read before it is asked.
func New(state string) *Log {
	return &Log{
		path: filepath.Join(state, fileName), keep: keepSessions, open: openFile,
		sessions: map[sessionKey]*started{},
	}
}

// NewForDaemon is New for the daemon, which also keeps the file from growing.
func NewForDaemon(state string) *Log {
	l := New(state)
	l.shortens = true
	return l
}

// Remember returns the folder that a session started in, which is this one if the session
// is new. If there is an error, which is returned once, the folder is kept while this
// program runs and is written as soon as possible.
func (l *Log) Remember(s Session, folder string) (string, error) {
	if known, ok := l.Known(s); ok {
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
		delete(l.sessions, oldest)
	}
	l.mu.Unlock()
	err := l.writeUnsaved()
	if known, ok := l.knownFolder(s, key); ok {
		return known, err
	}
	l.mu.Lock()
	l.sessions[key] = &started{folder: folder}
	l.mu.Unlock()
	known, _ := l.knownFolder(s, key)
	return known, err
}

// knownFolder returns the folder of a session that was read or noted.
func (l *Log) knownFolder(s Session, key sessionKey) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, ok := l.sessions[key]
	if !ok {
		return "", false
	}
	l.asked++
	one.used = l.asked
	if len(s.ID) <= longID {
		l.recent.Put(s, one, keepRecent)
	}
	return one.folder, true
}

// Known returns the folder of a session that this program has seen.
func (l *Log) Known(s Session) (string, bool) {
	l.mu.Lock()
	if one, ok := l.recent.Get(s); ok {
		l.asked++
		one.used = l.asked
		l.mu.Unlock()
		return one.folder, true
	}
	l.mu.Unlock()
	return l.knownFolder(s, keyOf(s))
}

// Read returns the folder that a session started in; fs.ErrNotExist for an unknown session.
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

// writeUnsaved writes what isn't written yet, unless another program was first. What was
// written is used only once it's read back: the file may have been shortened meanwhile, or
// another program's half line may precede it. If no other program wrote, there is nothing
// to read.
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

// unsavedLines returns the notes that are not written down.
func (l *Log) unsavedLines() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []byte
	if l.torn && l.unsaved.Len() > 0 { // another program was killed, or its disk was full
		lines = append(lines, '\n')
	}
	for key, folder := range l.unsaved.All() {
		lines = appendLine(lines, key, folder)
	}
	return lines
}

// appendLine writes a note. A folder may hold any bytes, so it is encoded.
func appendLine(lines []byte, key sessionKey, folder string) []byte {
	lines = append(hex.AppendEncode(lines, key[:]), ' ')
	return append(folderEncoding.AppendEncode(lines, []byte(folder)), '\n')
}

var folderEncoding = base64.RawURLEncoding

// isNamed reports whether the open file, described by info, is still the one of that name.
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
		file, err := l.open(l.path, write)
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
	// No daemon lets it grow like that: of what others put there the end is read.
	l.size = max(l.size, info.Size()-maxRead)
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
		digits, encoded, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		var key sessionKey
		if !ok || len(digits) != hex.EncodedLen(len(key)) {
			continue
		}
		if _, err := hex.Decode(key[:], digits); err != nil {
			continue
		}
		folder, err := folderEncoding.AppendDecode(nil, encoded)
		if err != nil || len(folder) > maxFolder {
			continue
		}
		l.unsaved.Delete(key)
		if l.sessions[key] == nil {
			l.asked++
			l.sessions[key] = &started{string(folder), l.asked}
		}
	}
}

// shorten rewrites the file with the most recently used sessions once it has twice as many
// as are kept. If that fails, the file stays as it is until the next note.
func (l *Log) shorten() {
	if !l.shortens || l.file == nil {
		return
	}
	l.mu.Lock()
	kept := l.sessionsToKeep()
	l.mu.Unlock()
	if kept == nil {
		return
	}
	var lines []byte
	for _, one := range kept {
		lines = appendLine(lines, one.key, one.folder)
	}
	if files.WriteSynced(l.path, lines) != nil {
		return
	}
	// What others have since appended to the old file goes to the new one. A program that
	// appends to the old one from now on sees that it isn't the file of that name.
	late, err := io.ReadAll(io.NewSectionReader(l.file, l.size, maxRead))
	if err == nil && len(late) > 0 {
		if file, err := l.open(l.path, true); err == nil {
			_, _ = file.Write(late) // their writers look whether it is there
			_ = file.Close()
		}
	}
	l.closeFile()
	l.mu.Lock()
	l.sessions = make(map[sessionKey]*started, 2*len(kept))
	for _, one := range kept {
		l.sessions[one.key] = one.started
	}
	l.mu.Unlock()
	_ = l.readOn(true) // else the next note reads it
}

// keyed is a session with its key.
type keyed struct {
	key sessionKey
	*started
}

// sessionsToKeep returns those that stay, the one asked about last last; nil while there are
// not too many.
func (l *Log) sessionsToKeep() []keyed {
	if len(l.sessions) <= 2*l.keep {
		return nil
	}
	all := make([]keyed, 0, len(l.sessions))
	for key, one := range l.sessions {
		all = append(all, keyed{key, one})
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Compare(a.used, b.used) })
	return all[len(all)-l.keep:]
}
