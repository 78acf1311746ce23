package shell

import (
	"maps"
	"slices"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/programs"
)

// programs.yaml says which program is read in which way, and every way is known here.
func TestWaysAreKnown(t *testing.T) {
	if got, want := slices.Sorted(maps.Keys(specialTable())), programs.Ways(); !slices.Equal(got, want) {
		t.Errorf("ways of programs.yaml and of this package: want %q, got %q", want, got)
	}
}
