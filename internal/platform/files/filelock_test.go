package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	for range 2 { // the same file may take it again
		if err := TryLock(first); err != nil {
			t.Errorf("a free lock: want it taken, got %v", err)
		}
	}
	if err := TryLock(second); !errors.Is(err, ErrHeld) {
		t.Errorf("a lock that another file has: want %v, got %v", ErrHeld, err)
	}
	first.Close()
	if err := TryLock(second); err != nil {
		t.Errorf("a lock whose holder was closed: want it taken, got %v", err)
	}
}
