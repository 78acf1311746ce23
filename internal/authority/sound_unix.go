//go:build unix

package authority

import (
	"os"
	"syscall"
)

func ownedByRoot(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}
