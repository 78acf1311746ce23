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

// Before the first release the daemon was called a hub, with a lock, a socket and a pid file of
// that name. One of those may still run when this one starts, and two daemons must never serve
// side by side.

// EndEarlier stops a daemon of a build before the first release, waits until it has stored
// everything, and removes its lock and socket. While a daemon of this build or a later one
// runs there's nothing to stop: it keeps the earlier ones out.
func EndEarlier(d paths.Dirs) {
	if DaemonHoldsLock(d) {
		return
	}
	if lock := replaceEarlier(d); lock != nil {
		_ = os.Remove(lock.Name()) // what stays is only a leftover
		_ = lock.Close()
	}
}

// replaceEarlier stops a daemon of a build before the first release and takes its lock.
// Such a build takes the lock's holder for the only daemon: programs of it that still run
// start none. It returns nil if the lock can't be taken.
func replaceEarlier(d paths.Dirs) *os.File {
	lock := filepath.Join(d.Runtime, "hub.lock")
	f, err := openLock(lock)
	if err != nil {
		return nil
	}
	started := time.Now()
	for ; errors.Is(files.TryLock(f), files.ErrHeld); time.Sleep(10 * time.Millisecond) {
		pid := earlierPID(d, lock)
		switch waited := time.Since(started); {
		case pid == 0 || waited > 7*time.Second:
			_ = f.Close() // another program holds the file, which doesn't keep this daemon from serving
			return nil
		case waited > 5*time.Second:
			_ = syscall.Kill(pid, syscall.SIGKILL) // what it acknowledged is on disk
		default:
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
	for _, name := range []string{"hub.sock", "hub.alive"} {
		_ = os.Remove(filepath.Join(d.Runtime, name)) // what stays is only a leftover
	}
	return f
}

// earlierPID returns the process that holds an earlier daemon's lock, 0 if it isn't known or
// isn't hookmux.
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
