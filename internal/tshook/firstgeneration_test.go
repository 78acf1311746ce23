package tshook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// The first generation's session event names the entry that is branched from by its
// place, where the header is the first, before and behind the branch, and the model that would write a summary.
func TestFirstGenerationSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.ts")
	text := `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default function (pi: HookAPI) {
  pi.on("session", async (event) => {
    if (event.reason === "before_branch" || event.reason === "branch") console.log(event.reason, event.targetTurnIndex);
    if (event.reason === "before_compact") console.log(event.reason, event.model.provider, event.model.id);
  });
}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inEffectTest(t, path, func(c *effectTest) {
		c.says("session_before_fork", pi.Object{"entryId": "e2"})
		c.says("session_start", pi.Object{"reason": "fork", "previousSessionFile": c.record})
		c.says("session_before_compact", pi.Object{})
		want := "log: before_branch 2\nlog: branch 2\nlog: before_compact lab small"
		if got := c.said(); got != want {
			t.Errorf("the hook saw\n%s\nwant\n%s (troubles: %s)", got, want, c.troubles())
		}
	})
}
