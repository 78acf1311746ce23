//go:build !linux

package setup

import (
	"errors"
	"time"
)

var errSystem = errors.New("hookmux's system service runs on Linux only")

// Step is one thing that is done, with a description.
type Step struct{ Text string }

// Setup installs and removes.
type Setup struct {
	Programs string
	User     int
}

// Folder is the descriptor of a user's folder in the child that moves state.
const Folder = 3

// Check fails on this system.
func Check() error { return errSystem }

// Installed returns false: there is no system service here.
func Installed() bool { return false }

// Reachable fails on this system.
func Reachable(time.Duration) error { return errSystem }

// Install fails on this system.
func (s *Setup) Install() ([]Step, error) { return nil, errSystem }

// Uninstall fails on this system.
func (s *Setup) Uninstall() ([]Step, error) { return nil, errSystem }

// Run fails on this system.
func Run([]Step) error { return errSystem }

// Move fails on this system.
func Move(string, int) error { return errSystem }
