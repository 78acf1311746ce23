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

// Code that Claude Code loads into itself can lift what a hook refused: it's named, unless
// the machine keeps it out.
func TestModsAreFound(t *testing.T) {
	claude := known(t, "claude")
	lifts := `{"pluginConfigs": {"cc-plugin-sec-default@builtin": {"options": {"allowModsToOverrideDenyRules": VALUE}}}}`
	module := `{"modules": ["./register.js"]}`
	for name, c := range map[string]struct {
		file, text string
		env        []string
		found      bool
	}{
		"nothing":               {file: ".claude/settings.json", text: `{"model": "x"}`},
		"prepended":             {file: ".claude/settings.json", text: `{"prependPlugins": ["./mine"]}`, found: true},
		"empty":                 {file: ".claude/settings.json", text: `{"prependPlugins": []}`},
		"folders":               {file: ".claude/settings.json", text: `{"env": {"CLAUDE_CODE_PLUGIN_DIRS": "/x"}}`, found: true},
		"variable":              {env: []string{"CLAUDE_CODE_PLUGIN_DIRS", "/x"}, found: true},
		"written by it":         {file: ".claude/dev-mods/s1/register.tsx", text: "x", found: true},
		"a skill with a mod":    {file: ".claude/skills/tidy/hooks/hooks.json", text: module, found: true},
		"in the manifest":       {file: ".claude/skills/tidy/.claude-plugin/plugin.json", text: `{"name": "tidy", "hooks": ` + module + `}`, found: true},
		"a skill with hooks":    {file: ".claude/skills/tidy/hooks/hooks.json", text: `{"hooks": {"Stop": []}}`},
		"a skill":               {file: ".claude/skills/tidy/SKILL.md", text: "tidy up"},
		"an installed plugin":   {file: ".claude/plugins/cache/market/tidy/1.0/hooks/hooks.json", text: module, found: true},
		"in another folder":     {env: []string{"CLAUDE_CONFIG_DIR", "=DIR"}, file: "elsewhere/skills/tidy/hooks/hooks.json", text: module, found: true},
		"lifts its deny rules":  {file: ".claude/settings.json", text: strings.ReplaceAll(lifts, "VALUE", "true"), found: true},
		"lifts otherwise":       {file: ".claude/settings.json", text: strings.ReplaceAll(lifts, "VALUE", `"yes"`), found: true},
		"does not lift":         {file: ".claude/settings.json", text: strings.ReplaceAll(lifts, "VALUE", "false")},
		"of the user, kept out": {file: ".claude/settings.json", text: `{"pluginConfigs": {"cc-plugin-sec-default@builtin": {"options": {"allowManagedModsOnly": true}}}, "prependPlugins": ["x"]}`, found: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			for i := range c.env {
				c.env[i] = strings.ReplaceAll(c.env[i], "=DIR", filepath.Join(h.Dirs.Home, "elsewhere"))
			}
			if len(c.env) > 0 && c.env[0] != "" {
				h.Getenv = func(name string) string {
					if i := slices.Index(c.env, name); i >= 0 && i%2 == 0 {
						return c.env[i+1]
					}
					return ""
				}
			}
			if c.file != "" {
				path := filepath.Join(h.Dirs.Home, c.file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, path, c.text)
			}
			found := h.Mods(claude)
			if (len(found.Loads)+len(found.Lifts) > 0) != c.found {
				t.Errorf("found %+v, want something: %v", found, c.found)
			}
			d := &Doctor{Host: h}
			d.checkMods(claude)
			if len(d.found) > 0 != c.found || c.found && (d.found[0].Level != Bad ||
				!strings.Contains(d.found[0].What, "can lift what hookmux refuses")) {
				t.Errorf("the doctor found %+v, want something wrong: %v", d.found, c.found)
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
