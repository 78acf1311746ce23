package userfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MaxFile is the largest file that is edited.
const MaxFile = 16 << 20

// ReadFile reads a regular file of at most limit bytes. A pipe, a device or a
// growing file can neither block nor fill the caller.
func ReadFile(path string, limit int64) ([]byte, error) {
	data, _, err := readFile(path, limit)
	return data, err
}

func readFile(path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
		}
		return nil, nil, fmt.Errorf("%s isn't a regular file; replace it with one", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) > limit {
		return nil, nil, fmt.Errorf("%s: larger than %d bytes; make it smaller", path, limit)
	}
	return data, info, nil
}

// WriteFile changes a file in one step: fn gets the present content (nil if there is no file) and
// returns the new one; returning the same bytes, or an error, leaves the file alone.
//
// Reading and writing happen under one exclusive lock, so that of any number of writers none loses
// what another wrote. A symlink stays and its target is written. The new text is flushed next to
// the file and renamed over it: a reader sees the old or the new, never half. Mode and owner stay;
// a new file gets 0600, a new folder 0700.
func WriteFile(path string, fn func(old []byte) ([]byte, error)) error {
	return writeFile(path, 0o600, fn)
}

// WriteProgram is WriteFile for a file that is run: a new one gets 0700.
func WriteProgram(path string, fn func(old []byte) ([]byte, error)) error {
	return writeFile(path, 0o700, fn)
}

func writeFile(path string, fresh fs.FileMode, fn func(old []byte) ([]byte, error)) error {
	target, err := resolveLinks(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	callAtStep()
	unlock, err := lock(target)
	if err != nil {
		return err
	}
	defer unlock()

	var info fs.FileInfo
	old, info, err := readFile(target, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		old, info, err = nil, nil, nil
	}
	if err != nil {
		return err
	}
	now, err := fn(bytes.Clone(old))
	if err != nil {
		return err
	}
	if info != nil && bytes.Equal(old, now) {
		return nil
	}
	return replaceFile(target, now, info, fresh)
}

// Store writes a file of our own whole and at once, 0600 in 0700 folders.
func Store(path string, data []byte) error {
	return WriteFile(path, func([]byte) ([]byte, error) {
		if data == nil {
			data = []byte{}
		}
		return data, nil
	})
}

// AtStep, if set, is called between any two operations that change the disk. Tests end the process
// there.
var AtStep func()

func callAtStep() {
	if AtStep != nil {
		AtStep()
	}
}

// replaceFile writes a new file in place of the old one; fresh is the mode if there was none.
func replaceFile(target string, data []byte, old fs.FileInfo, fresh fs.FileMode) (err error) {
	dir := filepath.Dir(target)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(temp.Name())
		}
	}()
	callAtStep()
	mode := fresh
	if old != nil {
		mode = old.Mode().Perm()
		if err := keepOwner(temp, old); err != nil {
			return fmt.Errorf("%s: belongs to another user (%w); edit it as its owner", target, err)
		}
	}
	if err := temp.Chmod(mode); err != nil {
		return err
	}
	callAtStep()
	if _, err := temp.Write(data); err != nil {
		return err
	}
	callAtStep()
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	callAtStep()
	if err := os.Rename(temp.Name(), target); err != nil {
		return err
	}
	callAtStep()
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // the rename itself; a file system that cannot is no failure
		d.Close()
	}
	return nil
}

// resolveLinks returns where a path's symlinks lead, even if the last one dangles: the file is then
// created where the link points.
func resolveLinks(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range 40 {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if errors.Is(err, fs.ErrNotExist) {
				return path, nil
			}
			return filepath.Join(dir, filepath.Base(path)), err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			// ".." in a link is relative to where the folder really is.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: symlinks lead in a circle; remove one", path)
}
