package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// A version in which nobody ran the plugin is asked whether it's loaded.
func TestAPluginThatNobodyRan(t *testing.T) {
	opencode := known(t, "opencode")
	for name, c := range map[string]struct {
		version, lists string
		fails          error
		want           []Level
	}{
		"the tested one":  {version: "1.18.33"},
		"no version":      {},
		"listed":          {version: "2.0.14", lists: "ID       SOURCE  STATE\nhookmux  local   active\n", want: []Level{Good}},
		"failed":          {version: "2.0.14", lists: "-  ~/.config/opencode/plugins/hookmux.js  failed\n", want: []Level{Bad}},
		"failed by name":  {version: "2.0.0", lists: "hookmux local failed\n", want: []Level{Bad}},
		"another plugin":  {version: "2.0.14", lists: "other local active\n", want: []Level{Bad}},
		"cannot be asked": {version: "2.0.14", fails: errors.New("exit status 1"), want: []Level{Note}},
	} {
		h := newHost(t)
		h.AgentVersion = func(*agent.Agent) string { return c.version }
		d := &Doctor{Host: h, Plugins: func(*agent.Agent, []string) (string, error) { return c.lists, c.fails }}
		d.checkLoaded(opencode)
		var got []Level
		for _, f := range d.found {
			got = append(got, f.Level)
			if f.Level == Bad && !strings.Contains(f.What, "nothing guards it") {
				t.Errorf("%s: %q doesn't say that nothing guards OpenCode", name, f.What)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: the doctor found %+v, want levels %v", name, d.found, c.want)
		}
	}
}
