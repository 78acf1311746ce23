//go:build unix

package paths

import (
	"os"
	"syscall"
)

// ours tells whether a file belongs to the user we run as.
func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == UserID()
}
