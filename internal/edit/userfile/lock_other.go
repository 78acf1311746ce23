//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package userfile

import (
	"errors"
	"io/fs"
	"os"
)

func lock(string) (func(), error) {
	return nil, errors.New("edit: files cannot be locked on this system; use Linux or macOS")
}

// Lock takes an exclusive lock.
func Lock(path string) (func(), error) { return lock(path) }

func keepOwner(*os.File, fs.FileInfo) error { return nil }
