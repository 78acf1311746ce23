package starts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestTheFirstFolderCounts(t *testing.T) {
	state := t.TempDir()
	if _, err := Read(state, "claude", "one"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a session nobody heard of: %v, want that there is none", err)
	}
	for _, folder := range []string{"/home/app", "/tmp"} {
		if got, err := Remember(state, "claude", "one", folder); got != "/home/app" || err != nil {
			t.Errorf("heard of in %s: started in %q, %v; want /home/app", folder, got, err)
		}
	}
	if got, _ := Remember(state, "codex", "one", "/tmp"); got != "/tmp" {
		t.Errorf("another agent's session of the same id started in %q, want /tmp", got)
	}
	var all sync.WaitGroup
	got := make([]string, 8)
	for i := range got {
		all.Go(func() { got[i], _ = Remember(state, "claude", "two", fmt.Sprint("/", i)) })
	}
	all.Wait()
	for _, folder := range got {
		if folder != got[0] || folder == "" {
			t.Errorf("several at once heard %q and %q, want the same", got[0], folder)
		}
	}
}

func TestDamagedNotesAreNoStart(t *testing.T) {
	state := t.TempDir()
	if _, err := Remember(state, "claude", "one", "/home/app"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fileOf(state, "claude", "one"), []byte(`{"agent":"codex"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Remember(state, "claude", "one", "/tmp"); !errors.Is(err, ErrNotWhole) {
		t.Errorf("a damaged note: %q, %v; want that it is damaged", got, err)
	}
}

func TestOldSessionsAreForgotten(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, folderName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range most + 1 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Prune(state); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != most/2 {
		t.Errorf("%d sessions are left, want %d", len(left), most/2)
	}
}
