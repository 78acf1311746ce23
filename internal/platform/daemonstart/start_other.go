//go:build !unix

package daemonstart

import (
	"errors"
	"io"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

var errSystem = errors.New("hookmux runs on Linux and macOS only; on Windows use WSL")

// Start fails on this system.
func Start(paths.Dirs, string, Options) (Outcome, error) { return 0, errSystem }

// OpenLog opens nothing on this system.
func OpenLog(paths.Dirs) io.Writer { return io.Discard }

// DaemonLock is a daemon's hold on being the only one.
type DaemonLock struct{}

// AcquireLock fails on this system.
func AcquireLock(paths.Dirs) (*DaemonLock, error) { return nil, errSystem }

// Ready does nothing on this system.
func (l *DaemonLock) Ready() {}

// Stop does nothing on this system.
func (l *DaemonLock) Stop() error { return nil }

// DaemonHoldsLock says that there is no daemon on this system.
func DaemonHoldsLock(paths.Dirs) bool { return false }

// Lost is never so on this system.
func (l *DaemonLock) Lost() bool { return false }
