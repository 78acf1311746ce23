package install

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Shim is the path that stands in agents' configs: always the same, whatever
// version of hookmux is installed where, because agents and people pin their
// trust to it. It is a link to the hookmux-hook of today.
func Shim(d paths.Dirs) string { return filepath.Join(d.Data, "bin", hookName) }

// StableHook prefers the name under which hookmux-hook stands on PATH to where
// that leads: package managers keep the first and move the second.
func StableHook(hook, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file := filepath.Join(dir, hookName); paths.SameFile(file, hook) {
			return file
		}
	}
	return hook
}

// Refresh points the shim at this hookmux-hook again after an upgrade moved
// it. It never makes one that is not there; a hookmux that is not the one on
// PATH only mends a shim that leads nowhere.
func Refresh(d paths.Dirs, hook string, onPath bool) error {
	shim := Shim(d)
	to, err := os.Readlink(shim)
	if err != nil || to == hook {
		return nil
	}
	if !onPath && paths.Runnable(shim) {
		return nil
	}
	return replaceLink(shim, hook)
}

// replaceLink makes a symlink in one step, also where one stands already.
func replaceLink(at, to string) error {
	if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s: is no link of ours; remove it", at)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	// A name of its own: several may do this at once.
	temp := fmt.Sprintf("%s.%016x.new", at, rand.Uint64())
	if err := os.Symlink(to, temp); err != nil {
		return err
	}
	if edit.AtStep != nil {
		edit.AtStep()
	}
	if err := os.Rename(temp, at); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
