//go:build unix

package terminal

import "golang.org/x/sys/unix"

// endSession ends a popup's command and what it runs: the command leads a
// group of its own.
func endSession(pid int) {
	if pid > 1 {
		_ = unix.Kill(-pid, unix.SIGKILL) // it may have ended by itself
	}
}
