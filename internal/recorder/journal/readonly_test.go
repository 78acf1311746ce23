package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What a daemon stored can be read without one, also what is still in the log of one that
// was killed, and nothing is made or changed.
func TestOpenReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if _, err := OpenReadOnly(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a journal that isn't there: error %v, want fs.ErrNotExist", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("reading made a file: %v", err)
	}
	j, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if _, _, err := j.Write([]Item{{Row: &Row{ID: id, Agent: "claude", Kind: "tool.before", Body: []byte("{}")}}}); err != nil {
			t.Fatal(err)
		}
	}
	// Copied while it's open: as a daemon leaves it that is killed.
	killed := filepath.Join(t.TempDir(), "journal.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(killed+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, killed} {
		r, err := OpenReadOnly(path)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for s, err := range r.Query(t.Context(), Filter{Newest: true}) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, s.ID)
		}
		if len(ids) != 2 || ids[0] != "b" {
			t.Errorf("%s: read %v, want b and a", path, ids)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(path, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(path); err == nil {
		t.Error("a file that is no database was opened")
	}
}
