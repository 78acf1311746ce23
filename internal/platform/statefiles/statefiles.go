// Package statefiles lists the files that hookmux keeps for itself, and finds what in its
// folders isn't in the list.
//
// Contract: docs/contributing/state-files.md is made from the list. When you add a new file,
// add it here; the tests of the commands and of the daemon fail for one that is missing.
// The user's settings (the config folder) aren't state.
package statefiles

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Place is the folder that a file is in.
type Place string

// The folders.
const (
	State    Place = "state"
	Runtime  Place = "runtime"
	Data     Place = "data"
	Anywhere Place = "any" // of these
)

// File is one file, or several of a kind.
type File struct {
	Place Place
	// Pattern is the path below the folder. A star matches any part of a name, two any folders
	// and what is in them.
	Pattern  string
	Owner    string // the package that writes it
	Format   string
	Contents string
	Lifetime string
	Missing  string // what happens without it
	Damaged  string // what happens when it cannot be read or believed
	// AgentsOwn means that an agent puts files there, and decides who may read and
	// write them.
	AgentsOwn bool
}

// Find returns the row of a file; nil when the list has none.
func Find(place Place, file string) *File {
	for i := range All {
		if f := &All[i]; (f.Place == place || f.Place == Anywhere) && matches(f.Pattern, file) {
			return f
		}
	}
	return nil
}

// matches compares the parts of a path with those of a pattern.
func matches(pattern, file string) bool {
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
		for {
			if matches(rest, file) {
				return true
			}
			_, below, deeper := strings.Cut(file, "/")
			if !deeper {
				return false
			}
			file = below
		}
	}
	if pattern == "**" {
		return true
	}
	first, rest, more := strings.Cut(pattern, "/")
	name, below, deeper := strings.Cut(file, "/")
	if ok, err := path.Match(first, name); err != nil || !ok || more != deeper {
		return false
	}
	return !more || matches(rest, below)
}

// Found is one thing in a folder.
type Found struct {
	Place Place
	Path  string
	File  *File // nil: the list has no such file
	// Foreign says that the file isn't the user's own, or that others may write it; "" if it is
	// as it should be.
	Foreign string
}

// maxFound limits how much is looked at.
const maxFound = 20_000

// ListFiles goes through the state, runtime and data folders. What cannot be read is
// left out.
func ListFiles(d paths.Dirs) []Found {
	var out []Found
	for _, at := range []struct {
		place Place
		dir   string
	}{{State, d.State}, {Runtime, d.Runtime}, {Data, d.Data}} {
		out = append(out, lookInto(at.place, at.dir, d, maxFound-len(out))...)
	}
	return out
}

func lookInto(place Place, dir string, d paths.Dirs, limit int) []Found {
	var out []Found
	if dir == "" {
		return nil
	}
	_ = filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if len(out) >= limit {
			return filepath.SkipAll
		}
		if err != nil {
			return nil // the rest is looked at all the same
		}
		if e.IsDir() {
			if at != dir && (at == d.Runtime || at == d.State || at == d.Data) {
				return filepath.SkipDir // looked at by itself
			}
			return nil
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return nil
		}
		found := Found{Place: place, Path: at, File: Find(place, filepath.ToSlash(rel))}
		if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() {
			found.Foreign = foreignWords(info)
		}
		out = append(out, found)
		return nil
	})
	return out
}

// foreignWords says what is wrong with the owner of a file.
func foreignWords(info fs.FileInfo) string {
	uid, _, ok := files.Owner(info)
	switch {
	case !ok:
		return ""
	case uid != os.Getuid():
		return fmt.Sprintf("belongs to user %d", uid)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Sprintf("others may write it (mode %04o)", info.Mode().Perm())
	}
	return ""
}
