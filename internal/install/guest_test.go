//go:build unix

package install

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// without is whoever takes no hooks in a project.
func without(t *testing.T) (out []*agent.Agent) {
	t.Helper()
	for _, a := range installable() {
		if !slices.ContainsFunc(a.Install.Places, func(p agent.InstallPlace) bool { return p.Scope == Project }) {
			out = append(out, a)
		}
	}
	return out
}

func TestOneAgentWithoutProjectHooksKeepsNobodyElseFromTheirs(t *testing.T) {
	none := without(t)
	if len(none) == 0 {
		t.Fatal("every agent takes hooks in a project: this test is about nobody")
	}
	h := newHost(t)
	p := mustInstall(t, h, Options{Agents: installable(), Found: true, Scope: Project})
	if len(p.Agents) != len(installable())-len(none) {
		t.Errorf("%d agents; want len(p.Agents) == len(installable())-len(none)", len(p.Agents))
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes,
		none[0].Name+": has no hooks of a project, so it is left out") {
		t.Errorf(`strings.Join(p.Notes, "\n") = %q, want none[0].Name + ": has no hooks of a project, so it is left `+
			`out" in it`, notes)
	}
	for _, one := range p.Agents {
		if len(one.Events) == 0 || !strings.HasPrefix(one.Path, h.Project) {
			t.Errorf("one = %+v, want len(one.Events) other than 0 and one.Path that begins with h.Project", one)
		}
	}
	// Who was named wants to hear that it cannot be done.
	if _, err := h.Install(Options{Agents: none, Scope: Project}); err == nil {
		t.Error("asked for by name, and nothing was said")
	}
}

func TestSwitchesThatKeepHooksFromRunningAreNamed(t *testing.T) {
	for _, c := range []struct {
		agent, file, text string
		off, old          bool
	}{
		{"claude", ".claude/settings.json", "{\n  \"disableAllHooks\": true\n}\n", true, false},
		{"claude", ".claude/settings.json", "{\n  \"disableAllHooks\": false\n}\n", false, false},
		{"codex", ".codex/config.toml", "[features]\nhooks = false\n", true, false},
		// What the real one does with each: 0.166 lists no hooks at the first.
		{"codex", ".codex/config.toml", "[features]\ncodex_hooks = false\n", true, false},
		{"codex", ".codex/config.toml", "[features]\nhooks = true\ncodex_hooks = false\n", false, true},
		{"codex", ".codex/config.toml", "[features]\ncodex_hooks = true\n", false, true},
	} {
		h := newHost(t)
		a := known(t, c.agent)
		write(t, filepath.Join(h.Dirs.Home, c.file), c.text)
		p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true})
		said := strings.Contains(strings.Join(p.Agents[0].Notes, "\n"), "line 2: ")
		if p.Agents[0].Off != c.off || said != c.off {
			t.Errorf("%s: off: %v, %q; want p.Agents[0].Off == c.off and said == c.off",
				c.text, p.Agents[0].Off, p.Agents[0].Notes)
		}
		_, all := examine(h, a, nil)
		if f := finding(all, "switched off"); (f != nil) != c.off {
			t.Errorf("%s: f = %+v, want (f != nil) = %v", c.text, f, c.off)
		}
		if f := finding(all, "old switch"); (f != nil) != c.old {
			t.Errorf("%s: f = %+v, want (f != nil) = %v", c.text, f, c.old)
		}
	}
}

// TestTheAgentsOwnHandInTheFile has the agent write trust in its own way: it
// forgets an empty table that the user had.
func TestTheAgentsOwnHandInTheFile(t *testing.T) {
	a := known(t, "codex")
	for _, was := range []string{"hooks = {}\n", "model = \"x\"\n\n[hooks]\n", "hooks = { state = {} } # mine\n",
		"[tui]\n"} {
		h := newHost(t)
		config := filepath.Join(h.Dirs.Home, ".codex/config.toml")
		write(t, config, was)
		before := picture(t, h.Dirs.Home)
		p, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: User, Trust: true, Events: []string{"Stop"}})
		if err != nil {
			t.Fatal(err)
		}
		disk := &Disk{Trust: func(g *OwnHooks) error {
			head := ""
			if strings.Contains(was, "# mine") {
				head = "# mine\n"
			}
			if strings.Contains(was, "model") {
				head = "model = \"x\"\n"
			}
			text := head + "\n[hooks.state]\n"
			for key, hash := range g.Keys {
				text += "\n[hooks.state.\"" + key + "\"]\ntrusted_hash = \"" + hash + "\"\n"
			}
			return os.WriteFile(config, []byte(text), 0o640)
		}}
		if err := p.Apply(disk); err != nil {
			t.Fatal(err)
		}
		mustUninstall(t, h, a)
		if d := cmp.Diff(before, picture(t, h.Dirs.Home)); d != "" {
			t.Errorf(`%q: cmp.Diff(before, picture(t, h.Dirs.Home)) = %s, want ""`, was, d)
		}
	}
}

// TestAnAgentThatWasTooSlow writes trust and does not live to say so.
func TestAnAgentThatWasTooSlow(t *testing.T) {
	a := known(t, "codex")
	for _, half := range []bool{true, false} {
		h := newHost(t)
		config := filepath.Join(h.Dirs.Home, ".codex/config.toml")
		write(t, config, "model = \"x\" # mine\n")
		before := picture(t, h.Dirs.Home)
		p, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: User, Trust: true,
			Events: []string{"Stop", "PreToolUse"}})
		if err != nil {
			t.Fatal(err)
		}
		disk := &Disk{Trust: func(g *OwnHooks) error {
			keys := maps.Clone(g.Keys)
			for key := range keys {
				if half {
					delete(keys, key)
					break
				}
			}
			now, _, err := hookentry.WriteTrust([]byte(read(t, config)), keys, nil)
			if err != nil {
				t.Fatal(err)
			}
			write(t, config, string(now))
			return errors.New("out of time")
		}}
		if err := p.Apply(disk); err != nil {
			t.Fatal(err)
		}
		if d := h.Delivery(a); !d.Whole {
			t.Errorf("half: %v: %s; want d.Whole", half, d.Why)
		}
		mustUninstall(t, h, a)
		if d := cmp.Diff(before, picture(t, h.Dirs.Home)); d != "" {
			t.Errorf(`half: %v: %s, want ""`, half, d)
		}
	}
}

func TestChangesToAPluginAreKept(t *testing.T) {
	a := known(t, "pi")
	h := newHost(t)
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	path := p.Agents[0].Path
	ours := read(t, path)
	kept := func(p *Plan, want string) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(h.Dirs.State, "set-aside", "pi-*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("nothing is kept: %v", err)
		}
		if !slices.ContainsFunc(files, func(file string) bool { return read(t, file) == want }) {
			t.Errorf("not kept: %q in %q", want, files)
		}
		if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "set-aside") {
			t.Errorf(`not said: %q; want "set-aside" in notes`, notes)
		}
	}
	write(t, path, ours+"// mine\n")
	kept(mustInstall(t, h, Options{Agents: []*agent.Agent{a}}), ours+"// mine\n")
	if read(t, path) != ours {
		t.Error("not fixed; want read(t, path) == ours")
	}
	write(t, path, ours+"// mine again\n")
	kept(mustUninstall(t, h, a), ours+"// mine again\n")
	if _, err := os.Stat(path); err == nil {
		t.Error("still there; want an error")
	}
	// An upgrade and a file as it was written leave nothing behind.
	fresh := newHost(t)
	mustInstall(t, fresh, Options{Agents: []*agent.Agent{a}})
	fresh.Version = "9.9.9"
	mustInstall(t, fresh, Options{Agents: []*agent.Agent{a}})
	mustUninstall(t, fresh, a)
	if _, err := os.Stat(filepath.Join(fresh.Dirs.State, "set-aside")); err == nil {
		t.Error("something was kept that nobody changed")
	}
}

// TestFilesThatMustNotBeWritten finds out before the first step.
func TestFilesThatMustNotBeWritten(t *testing.T) {
	claude, gemini := known(t, "claude"), known(t, "gemini")
	for name, prepare := range map[string]func(home string) error{
		"is write-protected": func(home string) error {
			path := filepath.Join(home, ".claude/settings.json")
			write(t, path, "{}\n")
			return os.Chmod(path, 0o444)
		},
		"a link that leads to none": func(home string) error {
			return os.Symlink(filepath.Join(home, "nowhere"), filepath.Join(home, ".claude"))
		},
		"not null": func(home string) error {
			write(t, filepath.Join(home, ".claude/settings.json"), "{\n \"hooks\": null}\n")
			return nil
		},
		"is a directory": func(home string) error {
			return os.MkdirAll(filepath.Join(home, ".claude/settings.json"), 0o700)
		},
	} {
		h := newHost(t)
		if err := prepare(h.Dirs.Home); err != nil {
			t.Fatal(err)
		}
		before := picture(t, h.Dirs.Home)
		_, err := h.ApplyPlan(func() (*Plan, error) {
			return h.Install(Options{Agents: []*agent.Agent{gemini, claude}, Scope: User})
		}, nil, &Disk{})
		if err == nil || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), "nothing was written anywhere") {
			t.Errorf(`%s: error %v, want an error, %q in err.Error() and "nothing was written anywhere" in err.Error()`,
				name, err, name)
		}
		if err != nil && strings.Count(err.Error(), "settings.json") > 1 {
			t.Errorf("the file is named twice: %v", err)
		}
		after := picture(t, h.Dirs.Home)
		delete(after, ".local/state/hookmux/install.lock")
		if d := cmp.Diff(before, after); d != "" {
			t.Errorf(`%s: cmp.Diff(before, after) = %s, want ""`, name, d)
		}
	}
}

func TestALinkThatLeadsNowhereLeadsThereAgain(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	if err := os.Mkdir(filepath.Join(h.Dirs.Home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dots/claude/settings.json",
		filepath.Join(h.Dirs.Home, ".claude/settings.json")); err != nil {
		t.Fatal(err)
	}
	before := picture(t, h.Dirs.Home)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	if !h.Installed(a) {
		t.Error("not installed; want h.Installed(a)")
	}
	mustUninstall(t, h, a)
	if d := cmp.Diff(before, picture(t, h.Dirs.Home)); d != "" {
		t.Errorf("picture(t, h.Dirs.Home) is not as wanted (-want +got):\n%s", d)
	}
}

func TestOthersAreNamedWhereverTheyStand(t *testing.T) {
	for name, file := range map[string]string{"claude": ".claude/settings.local.json",
		"gemini": ".gemini/settings.json"} {
		a := known(t, name)
		h := newHost(t)
		e := ""
		for _, spec := range a.Events {
			if hookentry.CanContradict(spec) && spec.Install == agent.InstallDefault && e == "" {
				e = spec.Name
			}
		}
		write(t, filepath.Join(h.Project, file), `{"hooks":{"`+e+
			`":[{"hooks":[{"type":"command","command":"guardian"}]}]}}`)
		p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
		if notes := strings.Join(p.Agents[0].Notes, "\n"); !strings.Contains(notes,
			file+": line 1: "+e+": guardian also has a hook here") {
			t.Errorf(`%s: strings.Join(p.Agents[0].UserNotes, "\n") = %s, want %q in it`,
				name, notes, file+": line 1: "+e+": guardian also has a hook here")
		}
		_, all := examine(h, a, nil)
		if f := finding(all, "foreign"); f == nil || !strings.Contains(f.What, "guardian") {
			t.Errorf(`%s: f = %+v, want other than nil and "guardian" in f.What`, name, f)
		}
	}
	// Others in a folder that is read whole.
	a := known(t, "grok")
	h := newHost(t)
	write(t, filepath.Join(h.Dirs.Home, ".grok/hooks/other.json"),
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"guardian"}]}]}}`)
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	if notes := strings.Join(p.Agents[0].Notes, "\n"); !strings.Contains(notes,
		"other.json: line 1: PreToolUse: guardian also has a hook here") {
		t.Errorf(`strings.Join(p.Agents[0].Notes, "\n") = %q, want "other.json: line 1: PreToolUse: guardian also `+
			`has a hook here" in it`, notes)
	}
}

func TestRootIsToldWhoseHomeItIs(t *testing.T) {
	home := t.TempDir()
	if said := ForeignHomeWarning(home); said != "" {
		t.Errorf(`the warning is %q, want none`, said)
	}
	if os.Geteuid() != 0 || os.Chown(home, 65534, 65534) != nil {
		t.Skip("only root can be a guest")
	}
	if said := ForeignHomeWarning(home); !strings.Contains(said, "(65534), and you are root") {
		t.Errorf(`the warning is %q, want "(65534), and you are root" in it`, said)
	}
}

func TestOneProtectedFileKeepsNobodyElseInstalled(t *testing.T) {
	claude, gemini := known(t, "claude"), known(t, "gemini")
	h := newHost(t)
	path := filepath.Join(h.Dirs.Home, ".claude/settings.json")
	write(t, path, "{\"a\": 1}\n")
	before := picture(t, h.Dirs.Home)
	mustInstall(t, h, Options{Agents: []*agent.Agent{claude, gemini}})
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	p := mustUninstall(t, h, claude, gemini)
	if len(p.Left) != 1 || p.Left[0] != path || !strings.Contains(strings.Join(p.Notes, "\n"), "is write-protected") {
		t.Errorf(`p.Left = %q, p.Notes = %q; want len(p.Left) = 1, p.Left[0] = %q and "is write-protected" in `+
			`strings.Join(p.Notes, "\n")`, p.Left, p.Notes, path)
	}
	if len(p.Agents) != 1 || p.Agents[0].Name != "gemini" {
		t.Errorf(`p.Agents = %+v, want 1 of them and p.Agents[0].Name = "gemini"`, p.Agents)
	}
	if h.Installed(gemini) || !h.Installed(claude) {
		t.Error("gemini is to be gone, claude to be whole")
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if p := mustUninstall(t, h, claude, gemini); len(p.Left) > 0 {
		t.Errorf("p.UserNotes = %q, want no p.ReadNote", p.Notes)
	}
	if d := cmp.Diff(before, picture(t, h.Dirs.Home)); d != "" {
		t.Errorf("picture(t, h.Dirs.Home) is not as wanted (-want +got):\n%s", d)
	}
}

func TestTrustInFilesThatAreGoneIsOffered(t *testing.T) {
	a := known(t, "codex")
	h := newHost(t)
	config := filepath.Join(h.Dirs.Home, ".codex/config.toml")
	gone := filepath.Join(h.Project, "gone/.codex/hooks.json:stop:0:0")
	there := filepath.Join(h.Project, ".codex/hooks.json")
	write(t, there, "{}")
	text := "model = \"x\"\n"
	for _, key := range []string{gone, there + ":stop:0:0", "plugin:other:stop:0:0", "/nowhere/else.json:stop:0:0"} {
		text += "\n[hooks.state.\"" + key + "\"]\ntrusted_hash = \"sha256:00\"\n"
	}
	write(t, config, text)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true, Events: []string{"Stop"}})
	if dead := h.trustOf(a).deadKeys(); len(dead) != 1 || dead[0] != gone {
		t.Errorf("dead = %q, want 1 of them and dead[0] = %q", dead, gone)
	}
}
