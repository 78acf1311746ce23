//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// placeSize is how large the small file systems are: more than a world needs,
// and quickly filled.
const placeSize = "96m"

// insideVariable says that the world has mounts of its own.
const insideVariable = "HOOKMUX_CHAOS_MOUNTS"

// mountPlaces gives the world file systems of its own for state and runtime folder, and a password
// file that names its home, so that the installation is taken for the user's own. It returns false if
// that isn't possible: then faults that need it are left out, and places come from the environment.
func mountPlaces(w *world) bool {
	if os.Getenv(insideVariable) == "" {
		return false
	}
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return false
	}
	for _, dir := range []string{w.statePlace(), w.runtimePlace()} {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+placeSize); err != nil {
			return false
		}
	}
	users := filepath.Join(w.options.Dir, "passwd")
	text := fmt.Sprintf("user:x:%d:%d::%s:/bin/sh\n", os.Getuid(), os.Getgid(), w.Dirs.Home)
	if err := os.WriteFile(users, []byte(text), 0o644); err != nil {
		return false
	}
	return unix.Mount(users, "/etc/passwd", "", unix.MS_BIND, "") == nil
}

// makeReadOnly makes one of the world's file systems read-only, until undo.
func makeReadOnly(dir string) (undo func(), err error) {
	// A second mount on top: the first one is busy while files are written.
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return nil, err
	}
	undo = func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// fillDisk uses up all the space of a file system, until undo.
func fillDisk(dir string) (undo func(), err error) {
	file := filepath.Join(dir, "filler")
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4 << 10} {
		block := make([]byte, size)
		for {
			if _, err := f.Write(block); err != nil {
				break
			}
		}
	}
	return func() { _ = os.Remove(file) }, nil
}
