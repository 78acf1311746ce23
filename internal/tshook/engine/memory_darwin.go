package engine

import "golang.org/x/sys/unix"

// emptied takes effect when somebody else needs the memory. macOS has a quicker
// way, for who says when the memory is used again, which the allocator does not.
const (
	emptied      = unix.MADV_FREE
	emptiedLater = true
)
