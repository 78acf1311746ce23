package handler

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// The rotation of a line file: the file itself and two older ones.
const (
	rotateSize = 8 << 20
	rotateKept = 3
)

// lineFile is a file of JSON lines that does not grow for ever. It is opened
// for each line, so that a user may move or delete it at any time.
type lineFile struct {
	path string

	mu   sync.Mutex
	size int64 // when to rotate; zero means rotateSize
}

// append writes one JSON value as one line with one write. A payload may be
// pretty-printed; inside strings JSON has no bare line ends, so outside of
// them they can be made blanks.
func (f *lineFile) append(value []byte) error {
	for i, c := range value {
		if c == '\n' || c == '\r' {
			value[i] = ' '
		}
	}
	line := append(value, '\n')

	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := f.open()
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil {
		limit := f.size
		if limit == 0 {
			limit = rotateSize
		}
		if info.Size() > 0 && info.Size()+int64(len(line)) > limit {
			file.Close()
			f.rotate()
			if file, err = f.open(); err != nil {
				return err
			}
		} else if info.Mode().Perm()&0o077 != 0 {
			file.Chmod(0o600) // events hold what is nobody else's business
		}
	}
	_, err = file.Write(line)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("%s: %w; is the disk full?", f.path, err)
	}
	return nil
}

func (f *lineFile) open() (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	file, err := os.OpenFile(f.path, flags, 0o600)
	if os.IsNotExist(err) {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
			return nil, fmt.Errorf("%s: %w; make the state directory writable", f.path, err)
		}
		file, err = os.OpenFile(f.path, flags, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; make the state directory writable", f.path, err)
	}
	return file, nil
}

// rotate moves every file one number up; the oldest is overwritten. A failure
// leaves the file growing, which loses nothing.
func (f *lineFile) rotate() {
	for n := rotateKept - 1; n > 0; n-- {
		older := fmt.Sprintf("%s.%d", f.path, n)
		if n == 1 {
			os.Rename(f.path, older)
		} else {
			os.Rename(fmt.Sprintf("%s.%d", f.path, n-1), older)
		}
	}
}
