package paths

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnPathTakesProgramsInAbsoluteFolders(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, mode := range map[string]os.FileMode{"text/x": 0o600, "rel/x": 0o700, "good/x": 0o700} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("folder/x", 0o700); err != nil {
		t.Fatal(err)
	}
	list := ""
	for _, one := range []string{"rel", "", dir + "/none", dir + "/folder", dir + "/text", dir + "/good"} {
		list += one + string(filepath.ListSeparator)
	}
	if got := OnPath("x", list); got != dir+"/good/x" {
		t.Errorf(`found %q; want got == dir+"/good/x"`, got)
	}
	if got := OnPath("y", list); got != "" {
		t.Errorf(`found %q, want ""`, got)
	}
	if err := os.Symlink(dir+"/good/x", "link"); err != nil {
		t.Fatal(err)
	}
	if !SameFile("link", "good/x") || SameFile("link", "rel/x") || SameFile("none", "none") {
		t.Error("files are told apart wrongly")
	}
}
