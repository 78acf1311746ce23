package files

import (
	"errors"
	"os"
	"path/filepath"
)

// This file replaces hookmux's own files as a whole: readers see the old content or the new
// one, never a part. Standard library only: the hook client links it.
//
// Files that aren't hookmux's own are written by internal/edit/userfile, which also follows
// links and keeps owner and mode.

// Write replaces a file, mode 0600, in a folder that is there already. After a
// power cut the file may be the old one, or empty.
func Write(path string, content []byte) error {
	return replaceFile(path, tempPattern, content, false)
}

// WriteVia is Write with a pattern, as for os.CreateTemp, for the name of the temporary file:
// for folders whose readers know such files by their names.
func WriteVia(pattern, path string, content []byte) error {
	return replaceFile(path, pattern, content, false)
}

// WriteSynced is Write for what must survive a power cut: the content is on disk before the
// file gets its name. SyncDir does the same for the name; not every file system can, so the
// caller decides whether that is a failure.
func WriteSynced(path string, content []byte) error {
	return replaceFile(path, tempPattern, content, true)
}

// SyncDir flushes the names in a folder to disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// tempPattern doesn't contain the file's name, which may be as long as names can be.
const tempPattern = ".new-*"

func replaceFile(path, pattern string, content []byte, sync bool) error {
	temp, err := os.CreateTemp(filepath.Dir(path), pattern) // 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err == nil && sync {
		err = temp.Sync()
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // the first error says more
	}
	return err
}
