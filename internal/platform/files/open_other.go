//go:build !unix

package files

import "os"

type descriptor struct{ *os.File }

func (d descriptor) Close() { _ = d.File.Close() }

// openRegular does what it can; hookmux doesn't run on such systems.
func openRegular(path string, follow bool) (descriptor, int64, error) {
	look := os.Lstat
	if follow {
		look = os.Stat
	}
	info, err := look(path)
	if err != nil {
		return descriptor{}, 0, err
	}
	if !info.Mode().IsRegular() {
		return descriptor{}, 0, &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	f, err := os.Open(path)
	return descriptor{f}, info.Size(), err
}

// Open opens a regular file of any size for reading.
func Open(path string) (*os.File, error) {
	d, _, err := openRegular(path, false)
	return d.File, err
}
