//go:build unix

package confirmed

import (
	"io/fs"
	"os"
	"syscall"
)

func belongsToUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
