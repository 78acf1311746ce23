package handler

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The rotation of a line file: the file itself and two older ones.
const (
	rotateSize = 8 << 20
	rotateKept = 3
)

// lineFile is a file of JSON lines that doesn't grow forever. It is kept open for a moment, so
// that many lines in a row cost little, and opened again after it, so that the user may move or
// delete it at any time.
type lineFile struct {
	path string

	mu    sync.Mutex
	size  int64 // when to rotate; zero means rotateSize
	file  *os.File
	bytes int64 // in the open file
	until time.Time
}

// keepOpen is how long a file stays open between lines.
const keepOpen = time.Second

// appendLine writes one JSON value as one line with one write. A payload may be
// pretty-printed; inside strings JSON has no bare line ends, so outside of
// them they can be made blanks.
// The bytes are its own from here on.
func (f *lineFile) appendLine(line []byte) error {
	for i, c := range line {
		if c == '\n' || c == '\r' {
			line[i] = ' '
		}
	}
	line = append(line, '\n')

	f.mu.Lock()
	defer f.mu.Unlock()
	limit := f.size
	if limit == 0 {
		limit = rotateSize
	}
	if err := f.makeReady(); err != nil {
		return err
	}
	if f.bytes > 0 && f.bytes+int64(len(line)) > limit {
		f.dropFile()
		f.rotateFiles()
		if err := f.makeReady(); err != nil {
			return err
		}
	}
	n, err := f.file.Write(line)
	f.bytes += int64(n)
	if err != nil {
		f.dropFile()
		return fmt.Errorf("%s: %w; is the disk full?", f.path, err)
	}
	return nil
}

// makeReady has the file open, and no longer than a moment.
func (f *lineFile) makeReady() error {
	now := time.Now()
	if f.file != nil && now.Before(f.until) {
		return nil
	}
	f.dropFile()
	file, err := f.openFile()
	if err != nil {
		return err
	}
	f.file, f.until, f.bytes = file, now.Add(keepOpen), 0
	if info, err := file.Stat(); err == nil {
		f.bytes = info.Size()
		if info.Mode().Perm()&0o077 != 0 {
			_ = file.Chmod(0o600) // events are private
		}
	}
	// Not held open while nothing happens.
	time.AfterFunc(2*keepOpen, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.file == file {
			f.dropFile()
		}
	})
	return nil
}

func (f *lineFile) dropFile() {
	if f.file != nil {
		_ = f.file.Close() // every line was written with its own write
		f.file = nil
	}
}

func (f *lineFile) openFile() (*os.File, error) {
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

// rotateFiles moves every file one number up; the oldest is overwritten. A failure
// leaves the file growing, which loses nothing.
func (f *lineFile) rotateFiles() {
	for n := rotateKept - 1; n > 0; n-- {
		older := fmt.Sprintf("%s.%d", f.path, n)
		if n == 1 {
			os.Rename(f.path, older)
		} else {
			os.Rename(fmt.Sprintf("%s.%d", f.path, n-1), older)
		}
	}
}
