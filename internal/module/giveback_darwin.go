package module

import "golang.org/x/sys/unix"

// emptied takes effect when somebody else needs the memory; macOS has nothing
// quicker.
const (
	emptied      = unix.MADV_FREE
	emptiedLater = true
)
