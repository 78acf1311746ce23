//go:build unix

// Package fileowner says whose a file is. Standard library only: the hook client links it.
package fileowner

import (
	"io/fs"
	"syscall"
)

// Of is the user and group of a file; false where the system does not tell.
func Of(info fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
