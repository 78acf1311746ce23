package authority

import (
	"crypto/sha256"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// RunsHookmux reports whether a process runs the program that this process runs: the same
// file, or a copy of it. Names and places don't matter; what runs these bytes is hookmux.
func RunsHookmux(p proc.Process, program string) bool {
	own, err := os.Stat(ownFile())
	if err != nil {
		return false
	}
	f, err := os.Open(programFile(p.PID, program))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	theirs, err := f.Stat()
	if err != nil {
		return false
	}
	if os.SameFile(own, theirs) {
		return true
	}
	if own.Size() != theirs.Size() {
		return false
	}
	key, keyed := fileKey(theirs)
	if same, known := copies.Load(key); keyed && known {
		return same.(bool)
	}
	mine, err := ownSum()
	if err != nil {
		return false
	}
	other, err := sumOf(f)
	if err == nil && keyed {
		copies.Store(key, mine == other)
	}
	return err == nil && mine == other
}

// ownFile returns the program that people run: this one, or the one beside the system service's
// daemon, whose own file nobody may read.
func ownFile() string {
	if paths.IsAttested() {
		return paths.SystemProgram("hookmux")
	}
	return programFile(os.Getpid(), "")
}

// copies remembers which files hold this program. Whatever changes a file changes its key.
var copies sync.Map

type programKey struct {
	device, inode    uint64
	modified, status time.Time
}

// ownSum is the sum of the program that runs here, which cannot change.
var ownSum = sync.OnceValues(func() ([sha256.Size]byte, error) {
	f, err := os.Open(ownFile())
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	defer func() { _ = f.Close() }() // only read
	return sumOf(f)
})

func sumOf(r io.Reader) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}
