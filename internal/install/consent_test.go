package install

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookmux/hookmux/agent"
)

// allowLists are lists of what people allowed, as Hermes and editors write them.
var allowLists = []string{
	"", // there is none
	`{"approvals": []}`,
	"{\r\n  \"approvals\": [\r\n    {\"command\": \"theirs --check\", \"event\": \"pre_tool_call\"}\r\n  ]\r\n}\r\n",
	"\ufeff{\"other\": {\"x\": [1, 2]}, \"approvals\": [{\"event\": \"pre_llm_call\",\t\"command\": \"a b\", \"approved_at\": \"2026-01-01T00:00:00Z\"}]}",
	"{}\n",
}

// What is installed is allowed word for word, and just that goes again.
func TestConsentIsAddedAndTakenOutExactly(t *testing.T) {
	a := known(t, "hermes")
	for _, was := range allowLists {
		h := newHost(t)
		list := filepath.Join(h.Dirs.Home, ".hermes/shell-hooks-allowlist.json")
		if was != "" {
			write(t, list, was)
		}
		root := filepath.Dir(h.Dirs.Home)
		before := picture(t, root)
		p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
		text := read(t, list)
		for _, event := range p.Agents[0].Events {
			if !strings.Contains(text, Shim(h.Dirs)+" hermes "+event) {
				t.Errorf("%q: %s is not in the list:\n%s", was, event, text)
			}
		}
		if again := mustInstall(t, h, Options{Agents: []*agent.Agent{a}}); again.Agents[0].Changed {
			t.Errorf("%q: a second install changes something, want nothing", was)
		}
		mustUninstall(t, h, a)
		if d := cmp.Diff(before, picture(t, root)); d != "" {
			t.Errorf("%q: after the uninstall (-want +got):\n%s", was, d)
		}
	}
}

// Somebody allowed another hook since, through Hermes, which writes the file anew.
func TestConsentOfOthersStaysWhenOursGoes(t *testing.T) {
	a, h := known(t, "hermes"), newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	list := filepath.Join(h.Dirs.Home, ".hermes/shell-hooks-allowlist.json")
	theirs := `{"approved_at": "2026-01-01T00:00:00Z", "command": "theirs", "event": "pre_tool_call"}`
	write(t, list, strings.Replace(read(t, list), `"approvals": [`, `"approvals": [`+theirs+`,`, 1))
	mustUninstall(t, h, a)
	if got := read(t, list); !strings.Contains(got, theirs) || strings.Contains(got, "hookmux") {
		t.Errorf("the list is %q, want what they allowed and nothing of hookmux", got)
	}
}

// A hook that is not in the list is passed over by the agent: the doctor says so, and fixes it.
func TestDoctorMissesConsent(t *testing.T) {
	a, h := known(t, "hermes"), newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	list := filepath.Join(h.Dirs.Home, ".hermes/shell-hooks-allowlist.json")
	write(t, list, `{"approvals": []}`)
	d, all := examine(h, a, nil)
	f := finding(all, "intact")
	if f == nil || f.Level != Bad || !strings.Contains(f.What, "is not allowed in shell-hooks-allowlist.json") ||
		h.Installed(a) {
		t.Fatalf("finding %+v, installed %v; want a bad one about the list, and nothing believed to run", f,
			h.Installed(a))
	}
	if _, err := d.Fix(all, never, &Disk{}); err != nil || !h.Installed(a) {
		t.Errorf("error %v, installed %v; want it fixed", err, h.Installed(a))
	}
}
