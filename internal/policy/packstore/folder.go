package packstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// ReadFolder reads the pack in a folder. Nothing outside of it is read, whatever its names and
// links say.
func ReadFolder(dir string) (*Pack, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []File
	entries, size := 0, int64(0)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case name == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entries++; entries > maxEntries {
			return fmt.Errorf("there are more than %d files beside the rules; a pack is a folder of its own",
				maxEntries)
		}
		if err := checkEntry(name, d.Type()); err != nil || d.IsDir() {
			return err
		}
		if !isContent(name) {
			return nil
		}
		data, err := readBelow(root, name)
		if err != nil {
			return err
		}
		if size += int64(len(data)); size > maxContent || len(files) >= maxFiles {
			return fmt.Errorf("the pack has more than %d files or %d MiB", maxFiles, maxContent>>20)
		}
		files = append(files, File{name, data})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return NewPack(files)
}

// isContent reports whether a file is one of the pack's own. NewPack treats any other file in
// the folder of rules as a mistake.
func isContent(name string) bool {
	return name == manifestFile || strings.HasPrefix(name, rulesFolder+"/")
}

// checkEntry rejects what doesn't belong in a pack. Mode is only the file type.
func checkEntry(name string, mode fs.FileMode) error {
	base := path.Base(name)
	switch {
	case !isPlainPath(name):
		return fmt.Errorf("%q is no name that a pack may have", name)
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link; a pack has none", name)
	case strings.EqualFold(base, ".git"), strings.EqualFold(base, ".gitmodules"):
		return fmt.Errorf("%s: the pack has a submodule; a pack has none", name)
	case mode.IsDir():
		if name != rulesFolder && strings.HasPrefix(name, rulesFolder+"/") {
			return fmt.Errorf("%s is a folder; rules lie in rules/ itself", name)
		}
		return nil
	case !mode.IsRegular():
		return fmt.Errorf("%s is no regular file", name)
	}
	return nil
}

// isPlainPath reports whether a name leads to a file below a folder on every system, and is
// displayed as what it is.
func isPlainPath(name string) bool {
	if name == "" || len(name) > 1000 || !plainText.MatchString(name) || strings.ContainsAny(name, "\\:") {
		return false
	}
	return fs.ValidPath(name) && name != "."
}

// errExchanged says that a file was replaced while it was read.
var errExchanged = errors.New("was exchanged while it was read; try again")

// readBelow reads a regular file below a folder that no link leads out of.
func readBelow(root *os.Root, name string) ([]byte, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !os.SameFile(before, info) {
		return nil, fmt.Errorf("%s %w", name, errExchanged)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d KiB", name, maxFile>>10)
	}
	return data, nil
}
