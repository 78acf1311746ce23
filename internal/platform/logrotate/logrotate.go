// Package logrotate keeps the log of a running daemon from growing forever.
//
// Contract: what starts the daemon opens daemon.log and makes it the daemon's output
// (package daemonstart). When it becomes too long it is set aside as daemon.log.1, replacing
// an older one, and a new daemon.log takes its place, including for what the Go runtime
// prints when the program crashes. Output that isn't that file (a terminal, a service
// manager, another file) is left alone. If a log can't be set aside, it is written on: too
// long is better than none.
package logrotate

import (
	"io"
	"os"
	"sync"
)

// Writer writes the daemon's log. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	out  *os.File
	path string
	max  int64
	// tried is the size at which setting it aside failed: it is tried again
	// when as much has been added.
	tried int64
	// takeOver makes next what out is.
	takeOver func(next, out *os.File) error
}

// New returns a writer to out, which is set aside if it is the file at path and has become
// longer than limit. Any other out is returned as it is.
func New(out io.Writer, path string, limit int64) io.Writer {
	file, ok := out.(*os.File)
	if !ok || !isSameFile(file, path) {
		return out
	}
	return &Writer{out: file, path: path, max: limit, takeOver: takeOver}
}

func isSameFile(file *os.File, path string) bool {
	is, err := file.Stat()
	if err != nil || !is.Mode().IsRegular() {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(is, there)
}

// Write appends p, in one piece, to the log or to the one that follows it.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if info, err := w.out.Stat(); err == nil && info.Size()+int64(len(p)) > w.max && info.Size() >= w.tried {
		if w.startNewFile() != nil {
			w.tried = info.Size() + w.max
		} else {
			w.tried = 0
		}
	}
	return w.out.Write(p)
}

// startNewFile begins a new file. The old one is set aside first, unless it is already gone.
func (w *Writer) startNewFile() error {
	if isSameFile(w.out, w.path) {
		if err := os.Rename(w.path, w.path+".1"); err != nil {
			return err
		}
	}
	// Links aren't followed: whatever is there now isn't hookmux's.
	next, err := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer next.Close() // out is the same file from now on
	return w.takeOver(next, w.out)
}
