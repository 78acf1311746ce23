//go:build unix && !linux

package main

import (
	"syscall"
)

// isTerminalFD looks at the kind of device: terminals are character devices, and
// of those only /dev/null is a usual stdin for a hook.
func isTerminalFD(fd int) bool {
	var st, null syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFCHR {
		return false
	}
	return syscall.Stat("/dev/null", &null) != nil || st.Rdev != null.Rdev
}
