package engine

import "golang.org/x/sys/unix"

// emptied gives pages back at once, so that people see the daemon's memory shrink.
const (
	emptied      = unix.MADV_DONTNEED
	emptiedLater = false
)
