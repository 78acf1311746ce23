package spool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
)

// File is one record that a hook left.
type File struct {
	Path string
	ID   string
	Size int64
}

// staleTemp is the age at which an unfinished file has no writer any more.
const staleTemp = time.Hour

// Sweep lists what hooks left, oldest first; the caller reads each with
// ReadFile and removes it once journalled. It clears away what writers that
// died left behind. A directory that isn't there is an empty one.
func Sweep(dir string) ([]File, error) {
	names, err := spoolrecord.NamesIn(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []File
	for _, name := range names {
		path := filepath.Join(dir, name)
		if id, size, ok := spoolrecord.ParseName(name); ok {
			files = append(files, File{Path: path, ID: id, Size: size})
			continue
		}
		if strings.HasPrefix(name, ".tmp-") {
			if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > staleTemp {
				_ = os.Remove(path) // the next sweep tries again
			}
		}
	}
	return files, nil
}
