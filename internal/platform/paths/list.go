package paths

import (
	"io/fs"
	"os"
)

// List returns up to most names in a folder, in any order.
func List(folder string, most int) ([]fs.DirEntry, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || most <= 0 { // opening a pipe would wait
		return nil, fs.ErrInvalid
	}
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(most)
}

// Exists reports whether something has this name, a link that leads nowhere included.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
