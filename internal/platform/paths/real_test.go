package paths

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRealFollowsLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(p string) string { return filepath.Join(root, p) }
	if err := os.MkdirAll(in("home/.agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(in("work"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"work/settings": in("home/.agent"), "work/relative": "../home/.agent", "work/late": "../home/.agent/settings.json",
		"work/loop": "loop", "work/one": "two", "work/two": "one", "work/up": "../home/.agent/..",
	} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ path, want string }{
		{"work/plain", "work/plain"},
		{"work/settings/a/b", "home/.agent/a/b"},
		{"work/relative/a", "home/.agent/a"},
		{"work/late", "home/.agent/settings.json"}, // it would be made there
		{"work/up/x", "home/x"},
		{"work/loop/x", "work/loop/x"},
		{"work/one", "work/one"},
		{"missing/a/b", "missing/a/b"},
	} {
		if got := Real(in(tt.path)); got != in(tt.want) {
			t.Errorf("Real(%s): expected %s, got %s", tt.path, in(tt.want), got)
		}
	}
}

// A path through links that lead to each other is given up at the first, however often
// it names them.
func TestLoopingLinksAreGivenUp(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(".", filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(dir, strings.Repeat("a/", 1900)+"x")
	if got := Real(long); got != long {
		t.Errorf("expected a path with more links than the kernel follows as it is, got %.80s…", got)
	}
}
