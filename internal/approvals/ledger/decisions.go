package ledger

import (
	"bufio"
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

// maxDecisionsFile is how large the record grows before it is begun anew; the one
// before is kept. The journal has all of it as well.
const maxDecisionsFile = 8 << 20

// Record is one decision of a person, as it is kept. Its texts are redacted.
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

// Decisions is the record of decisions: appended and flushed before an agent hears
// of one.
type Decisions struct {
	dir  string
	mu   sync.Mutex
	file *os.File
	size int64
}

// NewDecisions gives the record in a folder; it is opened with the first decision.
func NewDecisions(dir string) *Decisions { return &Decisions{dir: dir} }

func (b *Decisions) openFile() error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(b.dir, decisionsFile), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	size, err := endLine(f)
	if err != nil {
		f.Close()
		return err
	}
	b.file, b.size = f, size
	return nil
}

// endLine ends a line that a power cut or a full disk left half written: the next
// record would be lost in it. It returns the size.
func endLine(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return 0, err
	}
	if last[0] == '\n' {
		return info.Size(), nil
	}
	_, err = f.WriteString("\n")
	return info.Size() + 1, err
}

// Commit returns once the disk has the record.
func (b *Decisions) Commit(r *Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	line = append(line, '\n')
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
	n, err := b.file.Write(line)
	b.size += int64(n)
	if err == nil {
		err = sealed.FlushFile(b.file)
	}
	if err != nil {
		b.closeFile() // the next one begins with a fresh look at the disk
	}
	return err
}

// stillThere reports whether the open file is still the one on disk: a record in a
// file that somebody deleted would be lost.
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
