package install

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// Auggie reads time limits as milliseconds: 3600 would be four seconds to it
// and no hour. It runs a command without a shell, so program and words stand apart.
func TestAuggieLimitsAreMilliseconds(t *testing.T) {
	h := newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{known(t, "auggie")}})
	text := read(t, filepath.Join(h.Dirs.Home, ".augment/settings.json"))
	for _, want := range []string{`"timeout": 3600000`, `"args": [`} {
		if !strings.Contains(text, want) {
			t.Errorf("settings are %s, want %s in them", text, want)
		}
	}
}
