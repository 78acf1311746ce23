//go:build unix

package spool

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the lock of an open file, until that is closed or this process
// is gone. It is false when another open file has it; where files cannot be
// locked it is true.
func lockFile(f *os.File) bool {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return !errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
}
