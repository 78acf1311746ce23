package facts

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	alnum   = letters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "0123456789"
)

func TestLettersAndDigits(t *testing.T) {
	for i := range 256 {
		b := byte(i)
		if got, want := isAlnum(b), strings.IndexByte(alnum, b) >= 0; got != want {
			t.Errorf("isAlnum(%q) = %v, want %v", b, got, want)
		}
		want := b
		if at := strings.IndexByte(strings.ToUpper(letters), b); at >= 0 {
			want = letters[at]
		}
		if got := lowerByte(b); got != want {
			t.Errorf("lowerByte(%q) = %q, want %q", b, got, want)
		}
	}
}

// matchSlowly returns what Match promises, one needle after the other.
func matchSlowly(text string, list []string) bool {
	text = strings.ToLower(text)
	for _, needle := range list {
		for at := range text {
			if strings.HasPrefix(text[at:], strings.ToLower(needle)) &&
				(!isAlnum(needle[0]) || at == 0 || !isAlnum(text[at-1])) {
				return true
			}
		}
	}
	return false
}

func TestNeedlesFindEveryNeedle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.StringMatching(`[abcZ /.-]{1,5}`), 1, 6).Draw(t, "needles")
		text := rapid.StringMatching(`[aAbBczx /.-]{0,14}`).Draw(t, "text")
		if got, want := NewNeedles(false, list...).Match(text), matchSlowly(text, list); got != want {
			t.Fatalf("%q in %q: got %v, want %v", list, text, got, want)
		}
	})
	for _, c := range []struct {
		text string
		want bool
		list []string
	}{
		{"xgit-rm", true, []string{"git-rm", "rm"}}, // the longer does not begin a word, the shorter does
		{"xgit.rm", true, []string{"git.rm", ".rm"}},
		{"xgitrm", false, []string{"gitrm", "rm"}},
		{"zz", true, []string{"Z"}}, {"ZZ", true, []string{"z"}}, {"AWS", true, []string{"aws"}},
		{"a.b.c", true, []string{"b.c"}}, {"-hers", true, []string{"sher", "hers"}}, {"a-b-c", true, []string{"x-b-d", "b-c"}},
	} {
		if got := NewNeedles(false, c.list...).Match(c.text); got != c.want {
			t.Errorf("%q in %q: got %v, want %v", c.list, c.text, got, c.want)
		}
	}
}
