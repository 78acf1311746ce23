//go:build unix

package files

import (
	"io/fs"
	"syscall"
)

// This file returns who owns a file, and when it changed last. Standard library only: the
// hook client links it.

// Owner returns the user and group of a file; false if the system doesn't report them.
func Owner(info fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
