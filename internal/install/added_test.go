package install

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// An agent that was added by one file is installed and taken out again like any
// other, in both scopes.
func TestAddedAgentIsInstalled(t *testing.T) {
	c, problems := agent.Load("../../agent/testdata/added")
	a, ok := c.Agent("shaped")
	if !ok || len(problems) > 0 {
		t.Fatalf("problems %v, want the agent shaped and none", problems)
	}
	for _, text := range []string{"", "{}", "{\n  // mine\n  \"hooks\": {\"Done\": []},\n}\n", "{\"a\":[1,\n2]}"} {
		for _, scope := range []string{User, Project} {
			h := newHost(t)
			file := filepath.Join(h.Dirs.Home, ".shaped/settings.json")
			if scope == Project {
				file = filepath.Join(h.Project, ".shaped/settings.json")
			}
			if text != "" {
				write(t, file, text)
			}
			before := picture(t, filepath.Dir(h.Dirs.Home))
			mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Scope: scope})
			if d := h.Delivery(a); !d.Whole || len(d.Events) != len(a.Events) {
				t.Errorf("%s %q: delivery %+v, want %d events and nothing wrong", scope, text, d, len(a.Events))
			}
			mustUninstall(t, h, a)
			after := picture(t, filepath.Dir(h.Dirs.Home))
			for _, tree := range []map[string]string{before, after} { // hookmux's own notes
				for name := range tree {
					if rel, err := filepath.Rel("home/.local", name); err == nil && filepath.IsLocal(rel) {
						delete(tree, name)
					}
				}
			}
			if !reflect.DeepEqual(before, after) {
				t.Errorf("%s %q: after uninstall there is\n%v\nwant\n%v", scope, text, after, before)
			}
		}
	}
	h := newHost(t, "SHAPED_HOME", filepath.Join(t.TempDir(), "elsewhere"))
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	if got := read(t, filepath.Join(h.Getenv("SHAPED_HOME"), "settings.json")); got == "" {
		t.Error("its variable moves nothing, want the file below SHAPED_HOME")
	}
}
