//go:build unix

package standin

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
)

// Junie takes silence at PermissionRequest for a yes, and no other answer leaves the call to the person. So nothing is
// installed there, and whoever asks for it is told why.
func TestJunieIsNotInstalled(t *testing.T) {
	a, ok := agent.Builtin().Agent("junie")
	if !ok || a.Install != nil || !strings.Contains(a.NotInstalled, "approves") {
		t.Fatalf("junie: in the catalogue %v, install %v, reason %q; want an entry that says why it is not installed", ok,
			a.Install, a.NotInstalled)
	}
	for _, e := range a.Events {
		if e.Install != agent.InstallNever {
			t.Errorf("%s: install is %s, want never", e.Name, e.Install)
		}
	}
	b := newBench(t)
	w := &world{Bench: b, agent: a}
	_, err := w.host().Install(install.Options{Agents: []*agent.Agent{a}, Scope: install.User, Known: agent.Builtin().Agents()})
	if err == nil || !strings.Contains(err.Error(), a.NotInstalled) {
		t.Errorf("install junie: error %v, want one that says %q", err, a.NotInstalled)
	}
}
