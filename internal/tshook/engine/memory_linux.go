package engine

import "golang.org/x/sys/unix"

// emptied returns pages at once, so that users see the daemon's memory shrink.
const (
	emptied      = unix.MADV_DONTNEED
	emptiedLater = false
)
