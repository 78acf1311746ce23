package approvals

import (
	"encoding/json"
	"os"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/platform/smallfile"
)

// awayState says that the person is not at their agents' windows: requests are
// held as long as agents let them.
type awayState struct {
	Since time.Time `json:"since"`
	Hits  uint64    `json:"-"` // calls that grants had let pass before
}

// awayFlag is kept on disk, so that a hub which comes back does not forget it.
type awayFlag struct {
	file string
	now  atomic.Pointer[awayState] // nil: the person is there
}

// openAway reads the state that an earlier hub left.
func openAway(file string) *awayFlag {
	f := &awayFlag{file: file}
	b, err := smallfile.Read(file, 1<<20)
	if err != nil {
		return f
	}
	var s awayState
	if json.Unmarshal(b, &s) == nil {
		f.now.Store(&s)
	}
	return f
}

// set notes that the person is away. The error says that it could not be
// written down; it counts all the same.
func (f *awayFlag) set(hits uint64) (*awayState, error) {
	s := &awayState{Since: time.Now(), Hits: hits}
	if old := f.now.Load(); old != nil {
		s = old
	}
	f.now.Store(s)
	b, _ := json.Marshal(s)
	return s, os.WriteFile(f.file, b, 0o600)
}

// clearFile takes the state off the disk.
func (f *awayFlag) clearFile() error {
	if err := os.Remove(f.file); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
