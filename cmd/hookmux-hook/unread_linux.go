package main

import (
	"io"
	"syscall"
	"time"
	"unsafe"
)

// longestUnread limits the wait for an agent that doesn't read what it asked for.
const longestUnread = 3 * time.Second

// untilRead waits until the reader of the streams has taken all that was written.
func untilRead(streams ...io.Writer) {
	end := time.Now().Add(longestUnread)
	for _, w := range streams {
		f, ok := w.(fd)
		for ok && hasUnread(int(f)) && time.Now().Before(end) {
			time.Sleep(time.Millisecond)
		}
	}
}

// hasUnread reports whether a pipe or socket still holds what was written to it. For
// anything else it isn't known, and there is no wait.
func hasUnread(f int) bool {
	var bytes int32
	// What a socket still holds for the other side; pipes don't know this one, and
	// report from either end how much is in them.
	for _, question := range []uintptr{syscall.TIOCOUTQ, syscall.TIOCINQ} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(f), question,
			uintptr(unsafe.Pointer(&bytes))); errno == 0 {
			return bytes > 0
		}
	}
	return false
}
