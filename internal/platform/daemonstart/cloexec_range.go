//go:build unix

package daemonstart

import "syscall"

// markRange goes through the numbers one by one, where no list is to be had.
func markRange(end int) {
	for fd := 3; fd < end; fd++ {
		syscall.CloseOnExec(fd)
	}
}
