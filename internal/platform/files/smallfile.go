package files

import (
	"errors"
	"io"
	"os"
	"strconv"
	"time"
)

// This file reads hookmux's own files without being blocked by whatever was put in their
// place: the last element of a path is never followed as a link, only regular files are
// read, and never more than a limit. Standard library only: the hook client links it.

// The ways in which one of hookmux's files can be something else. Both mean that the file
// should be set aside.
var (
	ErrNotRegular = errors.New("is not a regular file")
	ErrTooLarge   = errors.New("is larger than it may be")
)

// IsNotPlainFile reports whether an error of this package says that something else is where
// the file should be, as opposed to a file that is missing or can't be opened.
func IsNotPlainFile(err error) bool {
	return errors.Is(err, ErrNotRegular) || errors.Is(err, ErrTooLarge)
}

// Read returns the content of a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, size, err := openRegular(path, false)
	if err != nil {
		return nil, err
	}
	return readBounded(f, size, path, limit)
}

// ReadLinked is Read for files of the system, which may be links.
func ReadLinked(path string, limit int64) ([]byte, error) {
	f, size, err := openRegular(path, true)
	if err != nil {
		return nil, err
	}
	return readBounded(f, size, path, limit)
}

func readBounded(f descriptor, size int64, path string, limit int64) ([]byte, error) {
	defer f.Close()
	if size > limit {
		return nil, &os.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	data := make([]byte, 0, size+1)
	for int64(len(data)) <= limit {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == nil && size > 0 && int64(len(data)) == size:
			// data has capacity size+1, so a full read means EOF; kernel files
			// report size 0.
			return data, nil
		case errors.Is(err, io.EOF):
			if int64(len(data)) > limit {
				return nil, &os.PathError{Op: "read", Path: path, Err: ErrTooLarge}
			}
			return data, nil
		case err != nil:
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
	}
	return nil, &os.PathError{Op: "read", Path: path, Err: ErrTooLarge}
}

// asideMark separates the name of a file from what makes the name under which it was set
// aside unique.
const asideMark = ".bad-"

// SetAside renames whatever is at path, so that it is out of the way and can still be looked
// at. It returns the new name.
func SetAside(path string) (string, error) {
	aside := path + asideMark + strconv.FormatInt(time.Now().UnixNano(), 36)
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	return aside, nil
}
