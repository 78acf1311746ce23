package paths

import (
	"path/filepath"
	"testing"
)

func TestIsWithin(t *testing.T) {
	for _, c := range []struct {
		folder, path string
		want         bool
	}{
		{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a/", "/a/b", true}, {"/a/", "/a", true}, {"/", "/x", true},
		{"/a", "/ab", false}, {"/a/b", "/a", false}, {"/a", "", false},
	} {
		if got := IsWithin(c.folder, c.path); got != c.want {
			t.Errorf("IsWithin(%q, %q): want %v, got %v", c.folder, c.path, c.want, got)
		}
	}
}

func TestEscapeGlob(t *testing.T) {
	const name = `a*b?c[d]\e`
	if ok, err := filepath.Match(EscapeGlob(name), name); !ok || err != nil {
		t.Errorf("want %q to fit its own pattern, got %v, %v", name, ok, err)
	}
	if ok, _ := filepath.Match(EscapeGlob("a*"), "ab"); ok {
		t.Error(`want "a*" to fit nothing but itself, got "ab"`)
	}
}
