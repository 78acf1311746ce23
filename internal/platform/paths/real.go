package paths

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Longest is the longest path that Linux takes.
const Longest = 4096

// Real follows symbolic links as far as the path exists.
func Real(path string) string {
	if path == "" {
		return ""
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	if len(path) > Longest {
		return path // no such folder can be there
	}
	if unlinked(path) {
		return path
	}
	// One step at a time, so that links that lead to each other cost no more than the
	// kernel allows.
	at, rest, links := "", path[1:], 0
	for rest != "" {
		name, left, _ := strings.Cut(rest, "/")
		rest = left
		switch name {
		case "", ".":
			continue
		case "..":
			at = at[:max(strings.LastIndexByte(at, '/'), 0)]
			continue
		}
		to, err := os.Readlink(at + "/" + name)
		switch {
		case errors.Is(err, syscall.EINVAL): // there, and no link
			at += "/" + name
		case err != nil: // not there yet, or not to be seen
			return filepath.Clean(at + "/" + name + "/" + rest)
		default:
			if links++; links > maxLinks || len(to)+len(rest) > 2*Longest {
				return path // the kernel doesn't open it either
			}
			if filepath.IsAbs(to) {
				at = ""
			}
			rest = to + "/" + rest
		}
	}
	return filepath.Clean(at + "/")
}

// maxLinks is how many links the kernel follows in one path.
const maxLinks = 40

// unlinked reports whether no part of an absolute, clean path is a link, as far as it exists:
// then it is its own real path. Guards ask this at every call that writes, so it costs one
// system call per folder and stops at the first that is missing. If in doubt, it is false.
func unlinked(path string) bool {
	if filepath.Separator != '/' {
		return false
	}
	var to [1]byte
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' || end == 1 {
			continue
		}
		switch _, err := syscall.Readlink(path[:end], to[:]); err {
		case syscall.EINVAL: // there, and no link
		case syscall.ENOENT, syscall.ENOTDIR:
			return true
		default:
			return false
		}
	}
	return true
}

// maxTwins limits how many files are compared with one that has several names.
const maxTwins = 4096

// Twin returns the name that a file has among others: one of these files, or a file in one
// of these folders, that is the same file under a second name (a hard link). It returns ""
// if the file has one name only, as nearly all have; among isn't called then.
func Twin(path string, among func() []string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || linkCount(info) < 2 {
		return ""
	}
	left, found := maxTwins, ""
	var look func(at string, depth int)
	look = func(at string, depth int) {
		other, err := os.Lstat(at)
		left--
		switch {
		case err != nil || found != "" || left < 0 || at == path:
		case other.Mode().IsRegular() && os.SameFile(info, other):
			found = at
		case other.IsDir() && depth < 4:
			folder, err := os.Open(at)
			if err != nil {
				return
			}
			defer folder.Close()
			for left > 0 && found == "" {
				names, err := folder.Readdirnames(256)
				for _, name := range names {
					look(filepath.Join(at, name), depth+1)
				}
				if err != nil {
					return
				}
			}
		}
	}
	for _, at := range among() {
		look(at, 0)
	}
	return found
}

// HasSeveralNames reports whether a file has hard links, so that its name doesn't say what
// else it is.
func HasSeveralNames(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && linkCount(info) > 1
}
