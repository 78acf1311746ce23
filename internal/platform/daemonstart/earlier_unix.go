//go:build unix

package daemonstart

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Before the first release the daemon was called a hub, with a lock, a socket and a pid file of that name. One of
// those may still run when this one starts, and two daemons must never serve side by side.

// EndEarlier stops a daemon of a build before the first release, and waits until it has stored everything.
func EndEarlier(d paths.Dirs) {
	lock := filepath.Join(d.Runtime, "hub.lock")
	f, err := os.OpenFile(lock, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return // none ever ran here
	}
	defer f.Close()
	started := time.Now()
	for ; errors.Is(files.TryLock(f), files.ErrHeld); time.Sleep(10 * time.Millisecond) {
		pid := earlierPID(d, lock)
		switch waited := time.Since(started); {
		case pid == 0 || waited > 7*time.Second:
			return // a stranger holds the file, which keeps nobody from serving
		case waited > 5*time.Second:
			_ = syscall.Kill(pid, syscall.SIGKILL) // what it acknowledged is on disk
		default:
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
	for _, name := range []string{"hub.sock", "hub.alive", "hub.lock"} {
		_ = os.Remove(filepath.Join(d.Runtime, name)) // what stays is only a leftover
	}
}

// earlierPID returns the process that holds an earlier daemon's lock, 0 when it can't be told or isn't hookmux.
func earlierPID(d paths.Dirs, lock string) int {
	pid, _ := lockHolder(lock)
	if pid == 0 {
		text, _ := os.ReadFile(filepath.Join(d.Runtime, "hub.alive"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if pid <= 1 || pid == os.Getpid() {
		return 0
	}
	if programName(pid) != "hookmux" {
		return 0
	}
	return pid
}
