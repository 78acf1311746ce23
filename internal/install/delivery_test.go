package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// Only hooks that run, everywhere and with an answer that counts, make it
// needless to give them at launch.
func TestOnlyWhatRunsIsBelieved(t *testing.T) {
	replace := func(old, now string) func(*testing.T, *Host, string) {
		return func(t *testing.T, _ *Host, path string) {
			text := read(t, path)
			if !strings.Contains(text, old) {
				t.Fatalf("no %s in %s; want old in text", old, text)
			}
			write(t, path, strings.Replace(text, old, now, 1))
		}
	}
	set := func(keys []string, value any) func(*testing.T, *Host, string) {
		return func(t *testing.T, _ *Host, path string) {
			text, err := edit.JSON.Set([]byte(read(t, path)), keys, value)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(text))
		}
	}
	for _, c := range []struct {
		name, agent string
		change      func(*testing.T, *Host, string)
		missing     []string // of PreToolUse and Stop
		check       string   // what the doctor calls it
	}{
		{"as written", "claude", nil, nil, ""},
		{"an older limit", "claude", replace(`"timeout": 3600`, `"timeout": 60`), nil, "intact"},
		{"a matcher", "claude", set([]string{"hooks", "PreToolUse", "0", "matcher"}, "Bash"), []string{"PreToolUse"}, "intact"},
		{"a matcher for all", "claude", set([]string{"hooks", "PreToolUse", "0", "matcher"}, "*"), nil, ""},
		{"async", "claude", set([]string{"hooks", "PreToolUse", "0", "hooks", "0", "async"}, true), []string{"PreToolUse"}, "intact"},
		{"a message", "claude", set([]string{"hooks", "PreToolUse", "0", "hooks", "0", "statusMessage"}, "hi"), nil, ""},
		{"another type", "claude", replace(`"type": "command"`, `"type": "prompt"`), []string{"PreToolUse"}, "intact"},
		{"another event", "claude", replace("claude PreToolUse 3600", "claude PostToolUse 3600"), []string{"PreToolUse"}, "intact"},
		{"one taken out", "claude", set([]string{"hooks", "Stop"}, []any{}), []string{"Stop"}, "missing"},
		{"switched off", "claude", set([]string{"disableAllHooks"}, true), []string{"PreToolUse", "Stop"}, "switched off"},
		{"no program", "claude", func(t *testing.T, h *Host, _ string) {
			if err := os.Remove(Shim(h.Dirs)); err != nil {
				t.Fatal(err)
			}
		}, []string{"PreToolUse", "Stop"}, "shim"},
		{"hidden", "droid", func(t *testing.T, h *Host, _ string) {
			write(t, filepath.Join(h.Dirs.Home, ".factory/hooks.json"), "{}")
		}, []string{"PreToolUse", "Stop"}, "shadowed"},
		{"trusted", "codex", nil, nil, ""},
		{"one no longer trusted", "codex", replace("codex Stop 600", "codex Stop 60"), []string{"Stop"}, "trust"},
		{"one switched off", "codex", func(t *testing.T, h *Host, path string) {
			config := filepath.Join(h.Dirs.Home, ".codex/config.toml")
			text, err := edit.TOML.Set([]byte(read(t, config)),
				hookentry.Join(hookentry.CodexTrustPath(path+":stop:0:0"), "enabled"), false)
			if err != nil {
				t.Fatal(err)
			}
			write(t, config, string(text))
		}, []string{"Stop"}, "trust"},
	} {
		t.Run(c.agent+" "+c.name, func(t *testing.T) {
			a := known(t, c.agent)
			h := newHost(t)
			both := []string{"PreToolUse", "Stop"}
			p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true, Events: both})
			if c.change != nil {
				c.change(t, h, p.Agents[0].Path)
			}
			want := slices.DeleteFunc(slices.Clone(both), func(e string) bool { return slices.Contains(c.missing, e) })
			d := h.Delivery(a)
			if !slices.Equal(want, d.Events) && len(want)+len(d.Events) > 0 || !d.Ours ||
				d.Whole != (len(c.missing) == 0) || d.Whole != (d.Why == "") {
				t.Errorf("%+v, want %v", d, want)
			}
			doctor, all := examine(h, a, nil)
			if c.check == "" {
				for _, f := range all {
					if f.Level == Bad && f.Check != "daemon" {
						t.Errorf(`f = %+v, want not f.Level == Bad && f.Check != "daemon"`, f)
					}
				}
				return
			}
			if f := finding(all, c.check); f == nil || f.Level != Bad {
				t.Fatalf("the doctor does not see it: %+v", all)
			}
			if c.check == "switched off" || c.name == "one switched off" {
				return // the user's own doing
			}
			if _, err := doctor.Fix(all, always, &Disk{}); err != nil {
				t.Fatal(err)
			}
			if d := h.Delivery(a); !d.Whole {
				t.Errorf("not fixed: %+v; want d.Whole", d)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if d := newHost(t).Delivery(known(t, "claude")); d.Ours || d.Whole || d.Events != nil {
			t.Errorf("d = %+v, want not d.Ours, not d.Whole and d.Events = nil", d)
		}
	})
}

// In a group with a person's own handlers and matcher it is theirs that is
// meant: ours leaves it.
func TestANarrowGroupIsLeft(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	path := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Events: []string{"PreToolUse"}}).Agents[0].Path
	src := []byte(read(t, path))
	src, err := edit.JSON.Set(src, []string{"hooks", "PreToolUse", "0", "matcher"}, "Bash")
	if err == nil {
		src, err = edit.JSON.Append(src, []string{"hooks", "PreToolUse", "0", "hooks"},
			map[string]any{"type": "command", "command": "mine"})
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(src))
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	var got struct {
		Hooks struct {
			PreToolUse []struct {
				Matcher *string
				Hooks   []struct{ Command string }
			}
		}
	}
	r, err := edit.JSON.Parse([]byte(read(t, path)))
	if err == nil {
		err = r.Decode(&got)
	}
	groups := got.Hooks.PreToolUse
	if err != nil || len(groups) != 2 || *groups[0].Matcher != "Bash" || len(groups[0].Hooks) != 1 ||
		groups[0].Hooks[0].Command != "mine" ||
		groups[1].Matcher != nil || !hookentry.MentionsHookmux(groups[1].Hooks[0].Command) {
		t.Fatalf(`error %v, read(t, path) = %s; want no error, len(groups) = 2, *groups[0].Matcher = "Bash", `+
			`len(groups[0].Hooks) = 1, groups[0].Hooks[0].Command = "mine", groups[1].Matcher = nil and hookentry.MentionsHookmux(groups[1].Hooks[0].Command)`,
			err, read(t, path))
	}
}

// Trust is a person's to give, also when something else is fixed.
func TestFixingDoesNotTrustUnasked(t *testing.T) {
	a := known(t, "codex")
	h := newHost(t)
	path := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Events: []string{"PreToolUse", "Stop"}}).Agents[0].Path
	write(t, path, strings.Replace(read(t, path), `"timeout": 3600`, `"timeout": 5`, 1))
	d, all := examine(h, a, nil)
	if asked := d.Trusts(all); len(asked) != 1 || asked[0] != a {
		t.Errorf("asked = %+v, want 1 of them and asked[0] = %+v", asked, a)
	}
	if _, err := d.Fix(all, never, &Disk{}); err != nil {
		t.Fatal(err)
	}
	if h.onDisk().exists(filepath.Join(h.Dirs.Home, ".codex/config.toml")) ||
		!strings.Contains(read(t, path), `"timeout": 3600`) {
		t.Error("trusted unasked, or not fixed")
	}
	if _, err := d.Fix(all, always, &Disk{}); err != nil {
		t.Fatal(err)
	}
	if d := h.Delivery(a); !d.Whole {
		t.Errorf("d = %+v, want d.Whole", d)
	}
}

// Gemini passes over all hooks in a folder that is not trusted.
func TestTheDoctorLooksAtTheFolder(t *testing.T) {
	a := known(t, "gemini")
	for name, c := range map[string]struct {
		rules string // %P the project, %D the folder around it
		env   []string
		set   string
		level Level
	}{
		"nothing said":       {level: Note},
		"trusted":            {rules: `{"%P": "TRUST_FOLDER"}`, level: Good},
		"by the one above":   {rules: `{"%D": "TRUST_FOLDER"}`, level: Good},
		"by a neighbour":     {rules: `{"%D/x": "TRUST_PARENT"}`, level: Good},
		"refused":            {rules: `{"%P": "DO_NOT_TRUST"}`, level: Bad},
		"the longest counts": {rules: `{"%D": "TRUST_FOLDER", "%P": "DO_NOT_TRUST"}`, level: Bad},
		"another":            {rules: `{"%P-not": "TRUST_FOLDER"}`, level: Note},
		"by the environment": {env: []string{"GEMINI_CLI_TRUST_WORKSPACE", "true"}, level: Good},
		"switched off":       {set: `{"security": {"folderTrust": {"enabled": false}}}`, level: Good},
		"broken":             {rules: `{"a"`, level: Bad},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, c.env...)
			if c.set != "" {
				write(t, filepath.Join(h.Dirs.Home, ".gemini/settings.json"), c.set)
			}
			if c.rules != "" {
				write(t, filepath.Join(h.Dirs.Home, ".gemini/trustedFolders.json"),
					strings.NewReplacer("%P", h.Project, "%D", filepath.Dir(h.Project)).Replace(c.rules))
			}
			mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
			_, all := examine(h, a, nil)
			if f := finding(all, "folder"); f == nil || f.Level != c.level {
				t.Errorf("f = %+v, want other than nil and f.Level = %q", f, c.level)
			}
		})
	}
}

// An event that this version has and the earlier one had not.
func TestTheDoctorNamesNewEvents(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	older := *a
	older.Events = slices.Clone(a.Events)
	added := *a.Events[len(a.Events)-1]
	added.Name, added.Install = "BrandNew", agent.InstallDefault
	older.Events = append(older.Events, &added)
	_, all := examine(h, &older, nil)
	if f := finding(all, "new events"); f == nil || f.Level != Note || !strings.Contains(f.What, "BrandNew") {
		t.Errorf(`all = %+v, want f other than nil, f.Level = Note and "BrandNew" in f.What`, all)
	}
}
