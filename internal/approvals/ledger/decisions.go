package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/sealed"
)

const (
	decisionsFile      = "decisions.jsonl"
	olderDecisionsFile = "decisions.old.jsonl"
)

// maxDecisionsFile is how large the record grows before a new file is started; one old
// file is kept. The journal has all of it as well.
const maxDecisionsFile = 8 << 20

// Record is one of your decisions, as it is kept. Its texts are redacted.
type Record struct {
	ID         string       `json:"id"` // of the event that the journal gets
	At         time.Time    `json:"at"`
	Request    string       `json:"request"`
	EventID    string       `json:"event"` // of the event it was about
	Agent      string       `json:"agent"`
	Session    string       `json:"session,omitempty"`
	Cwd        string       `json:"cwd,omitempty"`
	Tool       string       `json:"tool,omitempty"`
	Kind       string       `json:"kind"`
	Verdict    string       `json:"verdict"`
	Answer     event.Answer `json:"answer"`
	Reason     string       `json:"reason,omitempty"`
	By         string       `json:"by"`
	Permission string       `json:"permission,omitempty"`
	SHA256     string       `json:"sha256"` // of the exact bytes that were shown
	Shown      string       `json:"shown"`  // these bytes, redacted
	Signed     *Signature   `json:"signed,omitempty"`
}

// Signature is a paired device's signature of its answer.
type Signature struct {
	Device    string `json:"device"`    // its id
	Key       []byte `json:"key"`       // its public key, P-256, 65 bytes
	Message   string `json:"message"`   // names the request, what was shown, the choice and a nonce
	Signature []byte `json:"signature"` // ECDSA with SHA-256 over Message: r and s
}

// Decisions is the record of decisions: each is appended and flushed before an agent gets
// it. The file ends with empty lines for the next ones: flushing takes half the time if
// the file doesn't grow.
type Decisions struct {
	dir  string
	mu   sync.Mutex
	file *os.File
	size int64 // up to the end of the last record
	room int64 // the file's size
}

// spare is how much room is made at a time.
const spare = 256 << 10

// NewDecisions gives the record in a folder; it is opened with the first decision.
func NewDecisions(dir string) *Decisions { return &Decisions{dir: dir} }

func (b *Decisions) openFile() error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(b.dir, decisionsFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		b.size, err = endOfRecords(f, info.Size())
	}
	if err != nil {
		f.Close()
		return err
	}
	b.file, b.room = f, info.Size()
	return nil
}

// endOfRecords finds the end of the last line that isn't empty, in a file of a size.
func endOfRecords(f *os.File, size int64) (int64, error) {
	block := make([]byte, 64<<10)
	for size > 0 {
		from := max(0, size-int64(len(block)))
		n, err := f.ReadAt(block[:size-from], from)
		if err != nil {
			return 0, err
		}
		if used := len(bytes.TrimRight(block[:n], "\n")); used > 0 {
			return from + int64(used), nil
		}
		size = from
	}
	return 0, nil
}

// Commit returns once the disk has the record.
func (b *Decisions) Commit(r *Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file != nil && b.size > maxDecisionsFile {
		b.startAnew()
	}
	if b.file != nil && !b.stillThere() {
		b.closeFile()
	}
	if b.file == nil {
		if err := b.openFile(); err != nil {
			return err
		}
	}
	// What a power cut or a full disk left half written ends where this line begins.
	text := append([]byte("\n"), line...)
	if b.size == 0 {
		text = line
	}
	end, room := b.size+int64(len(text)), b.room
	if end >= room { // every line ends within the room
		text = append(text, bytes.Repeat([]byte("\n"), spare)...)
		room = end + spare
	}
	_, err = b.file.WriteAt(text, b.size)
	if err == nil {
		err = sealed.FlushFile(b.file)
	}
	b.size, b.room = end, room
	if err != nil {
		b.closeFile() // the next one begins with a fresh look at the disk
	}
	return err
}

// stillThere reports whether the open file is still the one on disk: a record in a deleted
// file would be lost.
func (b *Decisions) stillThere() bool {
	open, _ := b.file.Stat()
	named, _ := os.Stat(filepath.Join(b.dir, decisionsFile))
	return os.SameFile(open, named) // what could not be looked at is the same as nothing
}

// startAnew begins a new record and keeps the one before.
func (b *Decisions) startAnew() {
	b.closeFile()
	_ = os.Rename(filepath.Join(b.dir, decisionsFile), filepath.Join(b.dir, olderDecisionsFile))
}

func (b *Decisions) closeFile() {
	if b.file != nil {
		b.file.Close()
		b.file = nil
	}
}

// Close ends the record.
func (b *Decisions) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closeFile()
}

// maxRead is how much of a record is read back.
const maxRead = 64 << 20

// Last reads the newest records, oldest first: what a journal may lack that
// lost its last moments in a power cut.
func (b *Decisions) Last(n int) ([]Record, error) {
	f, err := files.Open(filepath.Join(b.dir, decisionsFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var list []Record
	lines := bufio.NewReaderSize(io.NewSectionReader(f, max(0, info.Size()-maxRead), maxRead), 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return list, nil // half a line was never acknowledged
		}
		var r Record
		if json.Unmarshal(line, &r) == nil && r.ID != "" {
			if list = append(list, r); len(list) > n {
				list = list[1:]
			}
		}
	}
}
