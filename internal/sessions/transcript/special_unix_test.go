//go:build unix

package transcript

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe or a directory where the record should be is refused, at once.
func TestSpecialFiles(t *testing.T) {
	s := newStore(t, "claude")
	pipe := filepath.Join(s.dir, "pipe.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal("no pipe:", err)
	}
	dir := filepath.Join(s.dir, "dir.jsonl")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir} {
		r := s.must("s1", path)
		done := make(chan error, 1)
		go func() { _, err := r.Read(); done <- err }()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s was read; want an error", path)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s held the reader up", path)
		}
	}
}
