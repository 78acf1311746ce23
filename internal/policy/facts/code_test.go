package facts

import (
	"slices"
	"strings"
	"testing"
)

func TestJoinedLiterals(t *testing.T) {
	got := joinedLiterals([]string{"a", "/b", "c", "d", "e"})
	for want, there := range map[string]bool{
		"a": true, "a/b": true, "a/b/c/d": true, "a/b/c/d/e": false, "a/bcd": true, "b/c/d/e": false, "/b/c/d/e": true, "d/e": true,
	} {
		if slices.Contains(got, want) != there {
			t.Errorf("%s is among the paths of five literals: got %v, want %v", want, !there, there)
		}
	}
	for size, want := range map[int]int{1024: 4, 1025: 2} {
		if got := len(joinedLiterals([]string{strings.Repeat("x", size), "y"})); got != want {
			t.Errorf("a literal of %d bytes and a neighbour: got %d paths, want %d", size, got, want)
		}
	}
}
