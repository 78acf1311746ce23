package files

import (
	"io/fs"
	"syscall"
)

// ChangedAt returns when the file or what is known about it changed last, which nobody can
// set back; 0 where the system does not tell.
func ChangedAt(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
