package files

import (
	"io/fs"
	"syscall"
)

// ChangedAt returns when the file or its metadata changed last, which no program can set
// back; 0 if the system doesn't report it.
func ChangedAt(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano()
	}
	return 0
}
