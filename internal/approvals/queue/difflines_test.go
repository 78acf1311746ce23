package queue

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/wire"
)

func TestDiffLines(t *testing.T) {
	for _, c := range []struct{ name, old, fresh, want string }{
		{"one line", "a", "b", "- a|+ b"},
		{"a line in between", "a b c", "a x c", "  a|- b|+ x|  c"},
		{"added", "a c", "a b c", "  a|+ b|  c"},
		{"removed", "a b c", "a c", "  a|- b|  c"},
		{"nothing before", "", "a b", "+ a|+ b"},
		{"nothing after", "a b", "", "- a|- b"},
		{"same", "a b", "a b", "  a|  b"},
		{"twice", "a a", "a a a", "  a|  a|+ a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(diffLines(strings.Fields(c.old), strings.Fields(c.fresh)), "|"); got != c.want {
				t.Errorf("the difference is %q, want %q", got, c.want)
			}
		})
	}
}

// Whatever is compared: both texts are in the difference, whole and in their order.
func TestDiffLinesLoseNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "- a", "+ b", "  a"}), 0, 12)
		old, fresh := lines.Draw(rt, "old"), lines.Draw(rt, "fresh")
		var before, after []string
		for _, line := range diffLines(old, fresh) {
			mark, text := line[:len(wire.CardAdded)], line[len(wire.CardAdded):]
			if mark != wire.CardAdded {
				before = append(before, text)
			}
			if mark != wire.CardRemoved {
				after = append(after, text)
			}
		}
		if !slices.Equal(before, old) || !slices.Equal(after, fresh) {
			rt.Fatalf("the difference has %q and %q, want %q and %q", before, after, old, fresh)
		}
	})
}
