//go:build unix

package install

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	diskfiles "github.com/hookmux/hookmux/internal/platform/files"
)

// CheckWritable finds out before the first step whether a later one would fail: because of a
// folder that can't be written to, or a file that belongs to another user.
func CheckWritable(steps []Step) error {
	for _, s := range steps {
		own := s.Op == OpLink || s.Op == OpManifest || s.Op == OpProgram // where a link of ours leads is not touched
		if s.Op != OpWrite && s.Op != OpTrust && s.Op != OpDelete && s.Op != OpMakeDir && !own {
			continue
		}
		path := s.Path
		if resolved, err := filepath.EvalSymlinks(path); err == nil && !own {
			path = resolved
		}
		if info, err := os.Stat(path); err == nil && !own {
			if owner, _, ok := diskfiles.Owner(info); ok && os.Geteuid() != 0 && owner != os.Geteuid() {
				return BrokenFile(s.Path, fmt.Errorf("belongs to another user (%d)", owner))
			}
			// A rename would succeed all the same, but the file was made read-only on purpose.
			if info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
				return BrokenFile(s.Path, fmt.Errorf("is write-protected (chmod u+w it, if hookmux may change it)"))
			}
		}
		dir := filepath.Dir(path)
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err == nil && info.IsDir() {
				break
			}
			if _, err := os.Lstat(dir); err == nil {
				return BrokenFile(s.Path, fmt.Errorf("%s is not a folder, or a link that leads to none", dir))
			}
		}
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return BrokenFile(s.Path, fmt.Errorf("cannot be written in %s (%w)", dir, err))
		}
	}
	return nil
}
