//go:build unix

package daemonstart

import "syscall"

// markRange goes through the numbers one by one, if there is no list.
func markRange(end int) {
	for fd := 3; fd < end; fd++ {
		syscall.CloseOnExec(fd)
	}
}
