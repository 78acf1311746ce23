//go:build !linux && !darwin

package terminal

import (
	"os"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

func deviceTimes(os.FileInfo) (authority.Terminal, error) { return authority.Terminal{}, errNoTimes }

// HoldsMaster is not known.
func (s *Source) HoldsMaster(int, string) (bool, error) { return false, authority.ErrUnknown }

// Connected is not known.
func (s *Source) Connected(int, int) (bool, error) { return false, authority.ErrUnknown }

// Clients is not known.
func (s *Source) Clients(proc.Process) ([]int, error) { return nil, authority.ErrUnknown }

// Display is not known.
func (s *Source) Display(int) (authority.Display, error) {
	return authority.Display{}, authority.ErrUnknown
}

// LocalCallers is not known.
func (s *Source) LocalCallers() ([]int, error) { return nil, authority.ErrUnknown }

// Relays is not known.
func (s *Source) Relays(int) (bool, error) { return false, authority.ErrUnknown }

// Stdin is not known.
func (s *Source) Stdin(int) (string, error) { return "", authority.ErrUnknown }

// Typists is not known.
func (s *Source) Typists(string) ([]int, error) { return nil, authority.ErrUnknown }

func listeningAt(int) (string, error) { return "", authority.ErrUnknown }

// masters are not known.
func (s *Source) masters(int) ([]string, error) { return nil, authority.ErrUnknown }

// canTypeAhead reports whether programs may type into their own terminal.
func canTypeAhead() bool { return false }

// RanBefore is not known.
func (s *Source) RanBefore(int) (bool, error) { return true, authority.ErrUnknown }
