package lazyregexp

import (
	"regexp"
	"slices"
	"testing"
)

// The methods give what the compiled expression gives.
func TestSameAsRegexp(t *testing.T) {
	const text = `(\w+)@(\w+)`
	lazy, plain := New(text), regexp.MustCompile(text)
	for _, s := range []string{"", "nothing", "ann@home", "ann@home, bob@work"} {
		if got, want := lazy.MatchString(s), plain.MatchString(s); got != want {
			t.Errorf("MatchString(%q) is %v, want %v", s, got, want)
		}
		if got, want := lazy.Match([]byte(s)), plain.Match([]byte(s)); got != want {
			t.Errorf("Match(%q) is %v, want %v", s, got, want)
		}
		if got, want := lazy.FindString(s), plain.FindString(s); got != want {
			t.Errorf("FindString(%q) is %q, want %q", s, got, want)
		}
		if got, want := lazy.FindStringSubmatch(s), plain.FindStringSubmatch(s); !slices.Equal(got, want) {
			t.Errorf("FindStringSubmatch(%q) is %q, want %q", s, got, want)
		}
		if got, want := lazy.FindAllStringSubmatch(s, -1), plain.FindAllStringSubmatch(s, -1); len(got) != len(want) {
			t.Errorf("FindAllStringSubmatch(%q) is %q, want %q", s, got, want)
		}
		if got, want := lazy.ReplaceAllString(s, "$2"), plain.ReplaceAllString(s, "$2"); got != want {
			t.Errorf("ReplaceAllString(%q) is %q, want %q", s, got, want)
		}
	}
}

// A wrong expression is found by any test of the package that has it.
func TestWrongExpression(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New took a wrong expression in a test program; it should panic")
		}
	}()
	New(`(`)
}
