package verify

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// moveKept gives a kept test bed a name that says what it is. Across file systems it is copied; if even
// that fails it stays where it is, and its path is returned.
func moveKept(base, into, name string, rename func(from, to string) error) string {
	to := filepath.Join(into, name)
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); err != nil {
			break
		}
		to = filepath.Join(into, fmt.Sprintf("%s-%d", name, n))
	}
	if rename(base, to) == nil {
		return to
	}
	if copyTree(base, to) != nil {
		testbed.RemoveAll(to)
		return base
	}
	testbed.RemoveAll(base)
	return to
}

// copyTree copies folders, plain files and links. Sockets and pipes are nothing
// once their owners are gone.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(at, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		case d.Type().IsRegular():
			return testbed.CopyFile(path, at)
		}
		return nil
	})
}
