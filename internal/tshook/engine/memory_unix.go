//go:build linux || darwin

package engine

import (
	"golang.org/x/sys/unix"
	"modernc.org/libc"
)

// forgetPages drops the content of whole pages. When that cannot be done they
// stay as they are.
func forgetPages(from, length uintptr) { _ = unix.Madvise(libc.GoBytes(from, int(length)), emptied) }
