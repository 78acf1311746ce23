package agent

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every agent can be written into, or says why not, and what would be written is sound.
func TestEveryAgentCanBeInstalled(t *testing.T) {
	for _, a := range Builtin().Agents() {
		s := a.Install
		if s == nil {
			if a.NotInstalled == "" {
				t.Errorf("%s cannot be installed, and does not say why", a.Name)
			}
			continue
		}
		user := false
		for _, p := range s.Places {
			user = user || p.Scope == "user"
			if !guarded(a, p.Path) {
				t.Errorf("%s: %s is written but not among the files a guard looks after", a.Name, p.Path)
			}
		}
		if !user {
			t.Errorf("%s has no place for the user", a.Name)
		}
		for _, e := range a.Events {
			if e.Install == InstallNever {
				continue
			}
			limit := a.InstallTimeout(e.Name)
			if most := time.Duration(s.Handler.Max); most > 0 && limit > most {
				t.Errorf("%s %s: %s is more than may be written", a.Name, e.Name, limit)
			}
			if s.Handler.Unit != "" && limit < time.Second {
				t.Errorf("%s %s: %s cannot be written in whole seconds, or would be read as other than it is", a.Name,
					e.Name, limit)
			}
		}
		for _, other := range s.Reads {
			if _, ok := Builtin().Agent(other); !ok {
				t.Errorf("%s reads the files of %s, which nobody knows", a.Name, other)
			}
		}
	}
}

func guarded(a *Agent, file string) bool {
	for _, f := range a.Files {
		if ok, _ := path.Match(f.Path, file); ok && !f.GuardOnly {
			return true
		}
	}
	return false
}

func TestPlaceLooksAtWhatIsThere(t *testing.T) {
	look := func(used string, there ...string) DiskView {
		return DiskView{
			Resolve: func(f HookFile) string { return f.Resolve("/h", "/p", nil) },
			Exists:  func(file string) bool { return slices.Contains(there, file) },
			Used:    func(file string, _ InstallPlace) bool { return file == used },
		}
	}
	for _, c := range []struct {
		agent, scope, want, at string
		look                   DiskView
	}{
		{"claude", "user", "/h/.claude/settings.json", "hooks", look("")},
		{"claude", "project", "/p/.claude/settings.json", "hooks", look("")},
		{"droid", "user", "/h/.factory/settings.json", "hooks", look("")},
		{"droid", "user", "/h/.factory/hooks.json", "", look("", "/h/.factory/hooks.json")},
		{"droid", "user", "/h/.factory/hooks/hooks.json", "", look("", "/h/.factory/hooks/hooks.json")},
		{"droid", "user", "/h/.factory/hooks.json", "", look("", "/h/.factory/hooks/hooks.json", "/h/.factory/hooks.json")},
		{"codex", "user", "/h/.codex/hooks.json", "hooks", look("")},
		{"codex", "user", "/h/.codex/config.toml", "hooks", look("/h/.codex/config.toml")},
		{"codex", "user", "/h/.codex/hooks.json", "hooks", look("/h/.codex/config.toml", "/h/.codex/hooks.json")},
		{"kimi", "project", "", "", look("")},
		{"pi", "user", "/h/.pi/agent/extensions/hookmux.js", "", look("")},
	} {
		a, _ := Builtin().Agent(c.agent)
		place, file, ok := a.Install.Place(c.scope, c.look)
		if file != c.want || place.At != c.at || ok != (c.want != "") {
			t.Errorf(`%s %s: file = %s, place.ByProcess = %q; want file = %q, place.ByProcess = %q and ok = (c.want != "")`,
				c.agent, c.scope, file, place.At, c.want, c.at)
		}
	}
	var none *InstallSpec
	if _, _, ok := none.Place("user", look("")); ok {
		t.Error("a place where there is none")
	}
}

func TestLaunchCarriersAreNamed(t *testing.T) {
	for _, a := range Builtin().Agents() {
		if open := strings.HasPrefix(a.Launch.Inject, "extension") || strings.HasPrefix(a.Launch.Inject, "settings") ||
			strings.HasPrefix(a.Launch.Inject, "config"); open != (a.Launch.Carrier != "") {
			t.Errorf(`%s: inject %q, carrier %q; want open == (a.Launch.Carrier != "")`,
				a.Name, a.Launch.Inject, a.Launch.Carrier)
		}
		if a.Launch.Program == "" {
			t.Errorf("%s has no program", a.Name)
		}
	}
}
