package files

import (
	"io/fs"
	"os"
	"path/filepath"
)

// This file writes a folder of files all or nothing: it appears under its name once every
// file is in it.

// FolderFile is one file of a folder.
type FolderFile struct {
	Path string // below the folder, with slashes
	Data []byte
	Mode fs.FileMode
}

// WriteFolder replaces whatever is at dir with files.
func WriteFolder(dir string, files []FolderFile) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".copy-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }() // gone already if all went well
	for _, f := range files {
		path := filepath.Join(temp, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, f.Mode); err != nil {
			return err
		}
		if err := os.Chmod(path, f.Mode); err != nil { // whatever the umask
			return err
		}
	}
	return os.Rename(temp, dir)
}
