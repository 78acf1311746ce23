package paths

import (
	"os"
	"path/filepath"
)

// Runnable reports whether a file is a program, links followed.
func Runnable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// SameFile reports whether two paths lead to one file.
func SameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// OnPath returns the first program of a name in a list of folders such as PATH; "" if there
// is none. Relative folders are ignored: they would mean whatever is in the folder in which
// an agent happens to work.
func OnPath(name, list string) string {
	for _, dir := range filepath.SplitList(list) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && Runnable(file) {
			return file
		}
	}
	return ""
}
