package redact

import (
	"github.com/hookmux/hookmux/internal/platform/redactmarks"
	"math/rand/v2"
	"strings"
	"testing"
)

// Whatever comes, nothing breaks, a second look changes nothing, and
// the text does not grow beyond what the replacements need.
func FuzzText(f *testing.F) {
	for _, c := range allSecrets() {
		f.Add(c.text)
	}
	for _, s := range cleanSamples() {
		f.Add(s)
	}
	r := rand.New(rand.NewPCG(5, 8))
	for _, line := range readShapes(f, shapesText+placesText) {
		text, _ := fillShape(r, line)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, in string) {
		once := Text(in)
		if twice := Text(once); twice != once {
			t.Fatalf("not stable: %q\n-> %q\n-> %q; want twice == once", in, once, twice)
		}
		if len(once) > len(in)*redactmarks.Longest {
			t.Fatalf("%d bytes became %d; want len(once) <= len(in)*marks.Longest", len(in), len(once))
		}
		redactor := New()
		seen := redactor.Text(in)
		if again := redactor.Text(seen); again != seen {
			t.Fatalf("not stable with a memory: %q\n-> %q\n-> %q", in, seen, again)
		}
		if strings.Count(seen, redactmarks.Head) < strings.Count(once, redactmarks.Head)-strings.Count(in, redactmarks.Head) &&
			len(seen) > len(once) {
			t.Fatalf("a memory hides secrets: %q\n-> %q\n-> %q", in, once, seen)
		}
	})
}
