package authority

import (
	"os"
	"syscall"
	"time"
)

func fileKey(info os.FileInfo) (programKey, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return programKey{}, false
	}
	return programKey{device: st.Dev, inode: st.Ino, modified: info.ModTime(), status: time.Unix(st.Ctim.Unix())}, true
}
