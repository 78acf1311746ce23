package programcopy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

func TestMayVanish(t *testing.T) {
	for file, want := range map[string]bool{
		"/home/u/.npm/_npx/0a1b/node_modules/hookmux-linux-x64/bin/hookmux":        true,
		"/usr/lib/node_modules/hookmux/node_modules/hookmux-linux-x64/bin/hookmux": true,
		"/home/u/project/node_modules/hookmux-darwin-arm64/bin/hookmux":            true,
		"/nix/store/0a1b-hookmux-0.1.0/bin/hookmux":                                true,
		"/home/u/.nix-profile/bin/hookmux":                                         false,
		"/usr/bin/hookmux":                                                         false,
		"/opt/homebrew/bin/hookmux":                                                false,
		"/home/u/.local/bin/hookmux":                                               false,
		"/home/u/my_node_modules/hookmux":                                          false,
	} {
		if got := MayVanish(file); got != want {
			t.Errorf("MayVanish(%s) = %v, want %v", file, got, want)
		}
	}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "node_modules/p/hookmux"), filepath.Join(dir, "data/programs/hookmux")
	if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
		t.Fatal(err)
	}
	dirs := paths.Dirs{Data: filepath.Join(dir, "data")}
	for _, content := range []string{"one", "two and more", ""} {
		if err := os.WriteFile(from, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if Same(from, to) {
			t.Errorf("%q is the same before it was copied, want another", content)
		}
		if err := Copy(from, to); err != nil {
			t.Fatal(err)
		}
		if !Same(from, to) || !paths.Runnable(to) {
			t.Errorf("the copy of %q is another or cannot be run, want the same, runnable", content)
		}
		if got := Stable(dirs, from); got != to {
			t.Errorf("the stable program is %s, want %s", got, to)
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(to)); len(entries) != 1 {
		t.Errorf("beside the copy there is more: %v", entries)
	}
}
