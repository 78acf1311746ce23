//go:build unix

package statefiles

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// foreignWords says what is wrong with whose a file is.
func foreignWords(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
		return fmt.Sprintf("belongs to user %d", st.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Sprintf("others may write it (mode %04o)", info.Mode().Perm())
	}
	return ""
}
