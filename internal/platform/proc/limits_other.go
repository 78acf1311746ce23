//go:build !linux

package proc

import (
	"errors"
	"net"
)

// Unlimited is a limit that isn't set.
const Unlimited = ^uint64(0)

var errNoFileLocks = errors.New("this system has no limit on file locks")

// FileLocks isn't available on this system.
func FileLocks(int) (uint64, error) { return Unlimited, errNoFileLocks }

// LimitFileLocks isn't available on this system.
func LimitFileLocks(int, uint64) error { return errNoFileLocks }

// Descendants isn't available on this system.
func Descendants(int) []int { return nil }

// PeerLives always returns true here: the system doesn't report it.
func PeerLives(*net.UnixConn) bool { return true }

// ListenerOwner isn't available on this system.
func ListenerOwner(int, []int) (int, bool) { return 0, false }

// AtFile is not known on this system.
func AtFile(string) []int { return nil }
