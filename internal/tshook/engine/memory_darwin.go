package engine

import "golang.org/x/sys/unix"

// emptied takes effect when the memory is needed elsewhere. macOS has a quicker way, but it
// requires announcing when the memory is used again, which the allocator doesn't do.
const (
	emptied      = unix.MADV_FREE
	emptiedLater = true
)
