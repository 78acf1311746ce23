package engine

import "golang.org/x/sys/unix"

// emptied takes effect at once: a hub's memory is what people see of it.
const (
	emptied      = unix.MADV_DONTNEED
	emptiedLater = false
)
