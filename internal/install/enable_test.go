package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookmux/hookmux/agent"
)

// clawConfigs are configs as people and OpenClaw's own commands write them.
var clawConfigs = []string{
	"", // there is none
	"{}\n",
	"{\n  // mine\n  \"agents\": {\"defaults\": {\"workspace\": \"~/w\",},},\n}\n",
	"{\r\n  \"plugins\": {\r\n    \"entries\": {\r\n      \"other\": {\"enabled\": true}\r\n    }\r\n  }\r\n}\r\n",
	"\ufeff{\"plugins\":{\"allow\":[\"x\"]}}",
	"{\"plugins\": {\"entries\": {\"hookmux\": {\"enabled\": true}}}}",
	"{\"plugins\": {\"entries\": {\"hookmux\": {\"hooks\": {\"timeoutMs\": 5}}}}}",
}

const clawConfig = ".openclaw/openclaw.json"

// Without an entry of its own OpenClaw lists the plugin as enabled and loads it not
// (lab: without the entry in openclaw.json); just that entry goes again.
func TestOpenClawEntryIsAddedAndTakenOutExactly(t *testing.T) {
	a := known(t, "openclaw")
	for _, was := range clawConfigs {
		h := newHost(t)
		config := filepath.Join(h.Dirs.Home, clawConfig)
		if was != "" {
			write(t, config, was)
		}
		root := filepath.Dir(h.Dirs.Home)
		before := picture(t, root)
		mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
		if text := read(t, config); !strings.Contains(text, `"enabled": true`) && !strings.Contains(text, `"enabled":true`) ||
			!strings.Contains(text, "allowConversationAccess") {
			t.Errorf("%q became %q, want the plugin enabled and told of conversations", was, text)
		}
		if !h.Installed(a) {
			t.Errorf("%q: installed is false, want the hooks believed to run", was)
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

// OpenClaw writes its config anew whenever one of its commands changes it.
func TestOpenClawEntryGoesFromARewrittenConfig(t *testing.T) {
	for _, record := range []bool{true, false} {
		a, h := known(t, "openclaw"), newHost(t)
		mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
		config := filepath.Join(h.Dirs.Home, clawConfig)
		write(t, config, `{"meta":{"lastTouchedVersion":"2026.9.6"},"plugins":{"entries":{"hookmux":{"enabled":true,`+
			`"hooks":{"allowConversationAccess":true}},"other":{"enabled":true}}}}`)
		if !record {
			if err := os.Remove(manifestPath(h.Dirs)); err != nil {
				t.Fatal(err)
			}
		}
		mustUninstall(t, h, a)
		want := `{"meta":{"lastTouchedVersion":"2026.9.6"},"plugins":{"entries":{"other":{"enabled":true}}}}`
		if got := read(t, config); got != want {
			t.Errorf("record %v: the config is %s, want %s", record, got, want)
		}
	}
}

// Who switched the plugin off is not overruled; it is said.
func TestOpenClawSwitchedOffStaysOff(t *testing.T) {
	a, h := known(t, "openclaw"), newHost(t)
	config := filepath.Join(h.Dirs.Home, clawConfig)
	write(t, config, `{"plugins": {"entries": {"hookmux": {"enabled": false}}}}`)
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	if text := read(t, config); !strings.Contains(text, `"enabled": false`) || !p.Agents[0].Off {
		t.Errorf("the config is %s and off is %v, want it as the user set it, and said", text, p.Agents[0].Off)
	}
}

// JSON5 that is more than JSON with comments is not written into: nothing is, and the
// file is named.
func TestOpenClawConfigThatCannotBeEdited(t *testing.T) {
	a, h := known(t, "openclaw"), newHost(t)
	write(t, filepath.Join(h.Dirs.Home, clawConfig), "{plugins: {}}")
	if _, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: User}); err == nil ||
		!strings.Contains(err.Error(), "openclaw.json") {
		t.Errorf("error %v, want one that names openclaw.json", err)
	}
}

// A plugin whose entry is gone is passed over: the doctor says so, and fixes it.
func TestDoctorMissesOpenClawEntry(t *testing.T) {
	a, h := known(t, "openclaw"), newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	write(t, filepath.Join(h.Dirs.Home, clawConfig), `{"plugins": {}}`)
	d, all := examine(h, a, nil)
	f := finding(all, "intact")
	if f == nil || f.Level != Bad || h.Installed(a) ||
		!strings.Contains(f.What, "plugins.entries.hookmux.enabled is not in openclaw.json") {
		t.Fatalf("finding %+v, installed %v; want a bad one about the entry, and nothing believed to run", f,
			h.Installed(a))
	}
	if _, err := d.Fix(all, never, &Disk{}); err != nil || !h.Installed(a) {
		t.Errorf("error %v, installed %v; want it fixed", err, h.Installed(a))
	}
}
