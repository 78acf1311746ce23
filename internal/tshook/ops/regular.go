package ops

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// A program that can write to a folder can put a pipe or a device where a hook, or hookmux
// itself, reads a file. Opening a pipe waits for another program at its other end, and a
// device may never end: an engine that is blocked answers no session.

// deviceAnswers is how long something that isn't a file may take to answer.
const deviceAnswers = time.Second

// openAny opens a file without blocking, as hooks ask for it.
func openAny(path string, flags int, mode fs.FileMode) (*os.File, error) {
	file, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, mode)
	if err != nil {
		return nil, err
	}
	st, err := file.Stat()
	if err == nil && st.Mode()&fs.ModeNamedPipe != 0 {
		err = &namedError{"Error", "EAGAIN", "EAGAIN: a pipe may keep a hook waiting for ever, open '" + path + "'"}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	if !st.Mode().IsRegular() {
		_ = file.SetDeadline(time.Now().Add(deviceAnswers)) // if it can be waited for
	}
	return file, nil
}

var (
	errNotRegular = errors.New("no regular file; replace it by one")
	errTooLarge   = errors.New("larger than 32 MiB; that is no hook")
)

// ReadRegular reads a file that hookmux itself needs.
func ReadRegular(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	b, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}
