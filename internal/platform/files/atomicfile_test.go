package files

import (
	"os"
	"path/filepath"
	"testing"
)

// writers are the ways to replace a file.
var writers = map[string]func(string, []byte) error{
	"Write":       Write,
	"WriteSynced": WriteSynced,
	"WriteVia":    func(path string, content []byte) error { return WriteVia(".via-*", path, content) },
}

func TestWrite(t *testing.T) {
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "note")
			for _, content := range []string{"first", "", "a longer second text"} {
				if err := write(file, []byte(content)); err != nil {
					t.Fatalf("writing %q: %v", content, err)
				}
				if got, err := os.ReadFile(file); err != nil || string(got) != content {
					t.Errorf("the file holds %q (%v), expected %q", got, err, content)
				}
			}
			if info, err := os.Stat(file); err != nil {
				t.Error(err)
			} else if got := info.Mode().Perm(); got != 0o600 {
				t.Errorf("the mode is %v, expected 0600", got)
			}
			expectOnly(t, dir, "note")
		})
	}
}

// TestReadersKeepTheOldFile holds that a file is replaced, not written into.
func TestReadersKeepTheOldFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "note")
	if err := Write(file, []byte("old")); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := Write(file, []byte("new text")); err != nil {
		t.Fatal(err)
	}
	room := make([]byte, 20)
	if n, err := reader.Read(room); err != nil || string(room[:n]) != "old" {
		t.Errorf("who had opened the file reads %q (%v), expected old", room[:n], err)
	}
}

func TestFailureLeavesNothingBehind(t *testing.T) {
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "note")
			if err := os.MkdirAll(filepath.Join(file, "inside"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := write(file, []byte("text")); err == nil {
				t.Error("a folder was replaced by a file, expected an error")
			}
			expectOnly(t, dir, "note")
			if err := write(filepath.Join(dir, "missing", "note"), []byte("text")); !os.IsNotExist(err) {
				t.Errorf("in a missing folder the error is %v, expected that it does not exist", err)
			}
		})
	}
}

func TestSyncDirOfMissingFolder(t *testing.T) {
	if err := SyncDir(filepath.Join(t.TempDir(), "missing")); !os.IsNotExist(err) {
		t.Errorf("the error is %v, expected that the folder does not exist", err)
	}
}

func expectOnly(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the folder holds %v, expected %s alone", entries, name)
	}
}
