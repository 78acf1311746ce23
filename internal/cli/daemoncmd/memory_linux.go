package daemoncmd

import "golang.org/x/sys/unix"

// hideMemory keeps other processes of this user from looking into the daemon and from
// changing what it does with a debugger. If the kernel doesn't allow it, the daemon runs all
// the same.
func hideMemory() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
