package drift

import (
	"context"
	"slices"
	"testing"

	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
)

// TestRealEventNames finds in real programs no event that nobody knows, and an event
// that is taken for unknown where the program lists its events.
func TestRealEventNames(t *testing.T) {
	agentstest.Repeats(t, "hookmux verify --newest")
	for _, name := range realagents.Names() {
		t.Run(name, func(t *testing.T) {
			in := agentstest.Require(t, name)
			files, known := programFiles(in.Argv[len(in.Argv)-1]), knownEvents(name)
			if named := NamedIn(files, known); len(named) > 0 {
				t.Errorf("the program names %v among its events, want each in the catalogue, heard or not", named)
			}
			if name != "claude" {
				return
			}
			known = slices.DeleteFunc(known, func(e string) bool { return e == "PreCompact" })
			if named := NamedIn(files, known); !slices.Contains(named, "PreCompact") {
				t.Errorf("without it in the catalogue the program names %v, want PreCompact", named)
			}
		})
	}
}

// TestRealNewestRelease asks the registry.
func TestRealNewestRelease(t *testing.T) {
	agentstest.Require(t, "goose")
	goose, _ := realagents.Find("goose")
	newest, err := NewestRelease(context.Background(), goose)
	if err != nil {
		t.Skipf("the registry does not answer: %v", err)
	}
	t.Logf("the newest release of %s is %s, recorded is %s", goose.Package(), newest, goose.Version)
}
