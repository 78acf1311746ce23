//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"os"
	"syscall"
)

// Try takes the lock of an open file without waiting; [ErrHeld] when another has it.
func Try(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrHeld
		default:
			return err
		}
	}
}
