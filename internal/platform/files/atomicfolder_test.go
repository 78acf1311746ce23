package files

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteReplacesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "copy")
	for _, files := range [][]FolderFile{
		{{"a.txt", []byte("a"), 0o400}, {"sub/b.sh", []byte("b"), 0o500}}, {{"c.txt", []byte("c"), 0o600}},
	} {
		if err := WriteFolder(dir, files); err != nil {
			t.Fatalf("writing %d files: %v, want no error", len(files), err)
		}
		for _, f := range files {
			info, err := os.Stat(filepath.Join(dir, f.Path))
			if err != nil || info.Mode().Perm() != f.Mode {
				t.Errorf("%s: %v, error %v; want it there with mode %v", f.Path, info, err, f.Mode)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "a.txt")); err == nil {
		t.Error("a file of the folder before is still there, want only the new ones")
	}
	beside, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(beside) != 1 {
		t.Errorf("beside the folder are %v, error %v; want nothing left over", beside, err)
	}
}

// A file that cannot be written leaves nothing behind.
func TestWriteIsAllOrNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copy")
	if err := WriteFolder(dir, []FolderFile{{"a", []byte("a"), 0o600}, {"a/b", []byte("b"), 0o600}}); err == nil {
		t.Fatal("a file below a file was written, want an error")
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 0 {
		t.Errorf("%v is left, want nothing", left)
	}
}
