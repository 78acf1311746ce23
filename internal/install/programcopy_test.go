package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

func TestMayVanish(t *testing.T) {
	writable := map[string]bool{"/home/u": true, "/opt/homebrew/bin": true, "/srv/own/hookmux": true}
	replaceable := func(file string, uid int) bool { return uid == 1000 && writable[file] }
	for file, want := range map[string]struct{ user, root bool }{
		"/home/u/.npm/_npx/0a1b/node_modules/hookmux-linux-x64/bin/hookmux":        {true, true},
		"/usr/lib/node_modules/hookmux/node_modules/hookmux-linux-x64/bin/hookmux": {true, true},
		"/nix/store/0a1b-hookmux-0.1.0/bin/hookmux":                                {true, true},
		"/home/u/.local/bin/hookmux":                                               {true, true},
		"/home/u/src/hookmux/bin/hookmux":                                          {true, true},
		"/opt/homebrew/bin/hookmux":                                                {true, false},
		"/srv/own/hookmux":                                                         {true, true},
		"/srv/roots/hookmux":                                                       {false, true},
		"/usr/bin/hookmux":                                                         {false, false},
		"/usr/local/my_node_modules/hookmux":                                       {false, false},
	} {
		if got := mayVanish(file, 1000, replaceable); got != want.user {
			t.Errorf("mayVanish(%s) for a user = %v, want %v", file, got, want.user)
		}
		if got := mayVanish(file, 0, replaceable); got != want.root {
			t.Errorf("mayVanish(%s) for root = %v, want %v", file, got, want.root)
		}
	}
}

func TestIsReplaceable(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own")
	if err := os.WriteFile(own, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if !isReplaceable(own, os.Getuid()) || !isReplaceable(own+"-missing", os.Getuid()) || !isReplaceable("/tmp", 12345) {
		t.Error("what you own, what is not there and what everybody can write to can be replaced, and was said not to be")
	}
	if isReplaceable("/usr", 12345) {
		t.Error("/usr is said to be replaceable by an ordinary user")
	}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "node_modules/p/hookmux"), filepath.Join(dir, "data/bin/hookmux")
	if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
		t.Fatal(err)
	}
	dirs := paths.Dirs{Data: filepath.Join(dir, "data")}
	for _, content := range []string{"one", "two and more", ""} {
		if err := os.WriteFile(from, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if SameProgram(from, to) {
			t.Errorf("%q is the same before it was copied, want another", content)
		}
		if err := CopyProgram(from, to); err != nil {
			t.Fatal(err)
		}
		if !SameProgram(from, to) || !paths.Runnable(to) {
			t.Errorf("the copy of %q is another or cannot be run, want the same, runnable", content)
		}
		if got := StableProgram(dirs, from); got != to {
			t.Errorf("the stable program is %s, want %s", got, to)
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(to)); len(entries) != 1 {
		t.Errorf("beside the copy there is more: %v", entries)
	}
}
