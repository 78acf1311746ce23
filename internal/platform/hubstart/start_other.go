//go:build !unix

package hubstart

import (
	"errors"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

var errSystem = errors.New("hookmux runs on Linux and macOS only; on Windows use WSL")

// Start refuses on this system.
func Start(paths.Dirs, string, Options) (Outcome, error) { return 0, errSystem }

// HubLock is a hub's hold on being the only one.
type HubLock struct{}

// AcquireLock refuses on this system.
func AcquireLock(paths.Dirs) (*HubLock, error) { return nil, errSystem }

// Ready does nothing on this system.
func (l *HubLock) Ready() {}

// Stop does nothing on this system.
func (l *HubLock) Stop() error { return nil }

// HubHoldsLock says that there is no hub on this system.
func HubHoldsLock(paths.Dirs) bool { return false }

// Lost is never so on this system.
func (l *HubLock) Lost() bool { return false }
