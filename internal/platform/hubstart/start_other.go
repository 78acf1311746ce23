//go:build !unix

package hubstart

import (
	"errors"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

var errSystem = errors.New("hookmux runs on Linux and macOS only; on Windows use WSL")

// Start refuses on this system.
func Start(paths.Dirs, string, Options) (Outcome, error) { return 0, errSystem }

// Life is a hub's hold on being the only one.
type Life struct{}

// Hold refuses on this system.
func Hold(paths.Dirs) (*Life, error) { return nil, errSystem }

// Ready does nothing on this system.
func (l *Life) Ready() {}

// Stop does nothing on this system.
func (l *Life) Stop() error { return nil }

// Lives says that there is no hub on this system.
func Lives(paths.Dirs) bool { return false }

// Lost is never so on this system.
func (l *Life) Lost() bool { return false }
