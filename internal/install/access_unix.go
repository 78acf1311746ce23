//go:build unix

package install

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkWritable finds out before the first step whether a later one would fail: a
// folder that cannot be written to, a file of somebody else.
func checkWritable(steps []Step) error {
	for _, s := range steps {
		own := s.Op == OpLink || s.Op == OpManifest // where a link of ours leads is not touched
		if s.Op != OpWrite && s.Op != OpTrust && s.Op != OpDelete && s.Op != OpMakeDir && !own {
			continue
		}
		path := s.Path
		if real, err := filepath.EvalSymlinks(path); err == nil && !own {
			path = real
		}
		if info, err := os.Stat(path); err == nil && !own {
			if owner, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() != 0 && int(owner.Uid) != os.Geteuid() {
				return brokenFile(s.Path, fmt.Errorf("belongs to another user (%d)", owner.Uid))
			}
			// A rename would go through all the same: somebody meant it to stay.
			if info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
				return brokenFile(s.Path, fmt.Errorf("is write-protected (chmod u+w it, if hookmux may change it)"))
			}
		}
		dir := filepath.Dir(path)
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err == nil && info.IsDir() {
				break
			}
			if _, err := os.Lstat(dir); err == nil {
				return brokenFile(s.Path, fmt.Errorf("%s is no folder, or a link that leads to none", dir))
			}
		}
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return brokenFile(s.Path, fmt.Errorf("cannot be written in %s (%w)", dir, err))
		}
	}
	return nil
}

// Visiting says that root works in the home of somebody else: what is made
// there would belong to root, and the agents of that person could not change it.
// Empty when it is not so.
func Visiting(home string) string {
	info, err := os.Stat(home)
	if err != nil || os.Geteuid() != 0 {
		return ""
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 {
		return fmt.Sprintf("%s: is the home of another user (%d), and you are root: files that are made there belong to root; run the command as that user", home, owner.Uid)
	}
	return ""
}
