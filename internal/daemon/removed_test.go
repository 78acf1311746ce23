package daemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/wire"
)

// Hooks that are missing at two checks in a row are a problem until they are back. At the
// first, the agent or hookmux itself may be writing the file.
func TestRemovedHooksAreReported(t *testing.T) {
	w := open(t)
	var found []wire.Problem
	w.h.removed = func(*agent.Catalogue) []wire.Problem { return found }
	gone := []wire.Problem{{Key: "hooks.claude", What: "claude: its hooks are gone", Fix: "`hookmux install claude`"}}
	before := map[string]bool{}
	for i, c := range []struct {
		found []wire.Problem
		want  bool
	}{{nil, false}, {gone, false}, {nil, false}, {gone, false}, {gone, true}, {gone, true}, {nil, false}, {gone, false}} {
		found = c.found
		before = w.h.reportRemoved(before)
		got := fmt.Sprint(w.h.deps.Problems.All())
		if strings.Contains(got, "its hooks are gone") != c.want {
			t.Errorf("look %d: problems are %s; want it in them: %v", i+1, got, c.want)
		}
	}
}
