package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// files is all that planning looks at. It is the disk, or in tests that try many documents, a table
// in memory; changes go through an [Editor] in any case.
type files interface {
	read(path string) ([]byte, error) // nil: there is none
	exists(path string) bool          // also a folder, or a link that leads nowhere
	isFile(path string) bool
	runnable(path string) bool
	readlink(path string) (string, bool)
	realPath(path string) string // the path itself if it leads nowhere
	glob(pattern string) []string
	writable(all []Step) error
}

func (h *Host) onDisk() files {
	if h.files != nil {
		return h.files
	}
	return disk{}
}

// missingDirs returns the folders that have to be made for a file, outermost
// first; for a link that leads nowhere, those of what it leads to.
func (h *Host) missingDirs(path string) []string {
	var out []string
	if to, ok := h.onDisk().readlink(path); ok {
		if !filepath.IsAbs(to) {
			to = filepath.Join(h.onDisk().realPath(filepath.Dir(path)), to)
		}
		path = to
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if h.onDisk().exists(dir) || dir == filepath.Dir(dir) {
			slices.Reverse(out)
			return out
		}
		out = append(out, dir)
	}
}

// disk is the real one.
type disk struct{}

func (disk) read(path string) ([]byte, error) {
	data, err := userfile.ReadFile(path, userfile.MaxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

func (disk) exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func (disk) isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (disk) runnable(path string) bool { return paths.Runnable(path) }

func (disk) readlink(path string) (string, bool) {
	to, err := os.Readlink(path)
	return to, err == nil
}

func (disk) realPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

func (disk) glob(pattern string) []string {
	matches, _ := filepath.Glob(pattern) // only a bad pattern fails
	return matches
}

func (disk) writable(all []Step) error { return CheckWritable(all) }
