//go:build unix

package daemoncmd

import (
	"errors"
	"syscall"
)

// sendSignal sends a process a signal. One that was stopped must run to notice it; one that
// is gone is no failure.
func sendSignal(pid int, signal syscall.Signal) error {
	err := errors.Join(syscall.Kill(pid, signal), syscall.Kill(pid, syscall.SIGCONT))
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
