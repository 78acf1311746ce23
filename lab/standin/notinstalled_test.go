//go:build unix

package standin

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
)

// Junie takes silence at PermissionRequest for a yes, and no other answer leaves the call to the user. So nothing is
// installed there, and whoever asks for it is told why.
func TestJunieIsNotInstalled(t *testing.T) { wantNotInstalled(t, "junie", "approves") }

// Continue loads hooks and calls none: what stood in its file would look like protection and be none.
func TestContinueIsNotInstalled(t *testing.T) { wantNotInstalled(t, "continue", "never runs one") }

func wantNotInstalled(t *testing.T, name, why string) {
	t.Helper()
	a, ok := agent.Builtin().Agent(name)
	if !ok || a.Install != nil || !strings.Contains(a.NotInstalled, why) {
		t.Fatalf("%s: in the catalogue %v, install %v, reason %q; want an entry that is not installed, for %q", name, ok,
			a.Install, a.NotInstalled, why)
	}
	for _, e := range a.Events {
		if e.Install != agent.InstallNever {
			t.Errorf("%s: install is %s, want never", e.Name, e.Install)
		}
	}
	b := newBench(t)
	w := &world{Bench: b, agent: a}
	_, err := w.host().Install(install.Options{Agents: []*agent.Agent{a}, Scope: install.User,
		Known: agent.Builtin().Agents()})
	if err == nil || !strings.Contains(err.Error(), a.NotInstalled) {
		t.Errorf("install %s: error %v, want one that says %q", name, err, a.NotInstalled)
	}
}
