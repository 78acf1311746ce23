//go:build unix && !linux

package terminal

import "golang.org/x/sys/unix"

// forReading is FREAD of <sys/fcntl.h>.
const forReading = 1

func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, forReading) }
