package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// Code that Claude Code loads into itself is named, and where it can lift a refusal that
// is wrong.
func TestModsAreFound(t *testing.T) {
	claude := known(t, "claude")
	lifts := `{"pluginConfigs": {"cc-plugin-sec-default@builtin": {"options": {"allowModsToOverrideDenyRules": VALUE}}}}`
	for name, c := range map[string]struct {
		file, text   string
		env          []string
		loads, lifts bool
	}{
		"nothing":         {file: ".claude/settings.json", text: `{"model": "x"}`},
		"prepended":       {file: ".claude/settings.json", text: `{"prependPlugins": ["./mine"]}`, loads: true},
		"empty":           {file: ".claude/settings.json", text: `{"prependPlugins": []}`},
		"folders":         {file: ".claude/settings.json", text: `{"env": {"CLAUDE_CODE_PLUGIN_DIRS": "/x"}}`, loads: true},
		"variable":        {env: []string{"CLAUDE_CODE_PLUGIN_DIRS", "/x"}, loads: true},
		"written by it":   {file: ".claude/sessions/s1/dev-mods/evil/register.tsx", text: "x", loads: true},
		"lifts":           {file: ".claude/settings.json", text: strings.ReplaceAll(lifts, "VALUE", "true"), lifts: true},
		"lifts otherwise": {file: ".claude/settings.json", text: strings.ReplaceAll(lifts, "VALUE", `"yes"`), lifts: true},
		"does not lift":   {file: ".claude/settings.json", text: strings.ReplaceAll(lifts, "VALUE", "false")},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, c.env...)
			if c.file != "" {
				path := filepath.Join(h.Dirs.Home, c.file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, path, c.text)
			}
			found := h.Mods(claude)
			if (len(found.Loads) > 0) != c.loads || (len(found.Lifts) > 0) != c.lifts {
				t.Errorf("found %+v, want loads %v, lifts %v", found, c.loads, c.lifts)
			}
			mustInstall(t, h, Options{Agents: []*agent.Agent{claude}})
			d := &Doctor{Host: h}
			d.checkMods(claude)
			bad := false
			for _, f := range d.found {
				bad = bad || f.Level == Bad
			}
			if bad != c.lifts {
				t.Errorf("the doctor found %+v, want something wrong: %v", d.found, c.lifts)
			}
		})
	}
	if mods := newHost(t).Mods(known(t, "codex")); len(mods.Loads)+len(mods.Lifts) > 0 {
		t.Errorf("mods of Codex: %+v", mods)
	}
}

// A version that does not load the plugin is wrong, and said to be unguarded.
func TestAPluginThatIsNotLoaded(t *testing.T) {
	opencode := known(t, "opencode")
	for version, loads := range map[string]bool{"1.18.33": true, "": true, "2.0.0": false, "2.0.14": false} {
		h := newHost(t)
		h.AgentVersion = func(*agent.Agent) string { return version }
		d := &Doctor{Host: h}
		d.checkLoaded(opencode)
		if (len(d.found) == 0) != loads || !loads && (d.found[0].Level != Bad ||
			!strings.Contains(d.found[0].What, "nothing guards it")) {
			t.Errorf("version %q: %+v, want loaded %v", version, d.found, loads)
		}
	}
}
