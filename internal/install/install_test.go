package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// Into an empty home and out again: nothing is left.
func TestAnEmptyHomeIsEmptyAgain(t *testing.T) {
	for _, a := range installable() {
		for _, scope := range []string{User, Project} {
			h := newHost(t)
			if _, _, ok := a.Install.Place(scope, h.diskView(a.Install)); !ok {
				continue // has no such place
			}
			t.Run(a.Name+" "+scope, func(t *testing.T) {
				root := filepath.Dir(h.Dirs.Home)
				before := picture(t, root)
				o := Options{Agents: []*agent.Agent{a}, Scope: scope, Trust: true}
				p := mustInstall(t, h, o)
				if !p.Agents[0].Changed || !h.Installed(a) {
					t.Fatal("nothing was installed")
				}
				text := read(t, p.Agents[0].Path)
				if !strings.Contains(text, Shim(h.Dirs)) {
					t.Errorf("the shim is not in it:\n%s", text)
				}
				again, err := h.Install(o)
				if err != nil || len(again.Steps) != 0 {
					t.Errorf("installing again would do something: %v %v", again.Steps, err)
				}
				mustUninstall(t, h, a)
				if d := cmp.Diff(before, picture(t, root)); d != "" {
					t.Errorf("picture(t, root) is not as wanted (-want +got):\n%s", d)
				}
				if h.Installed(a) {
					t.Error("still installed; want !h.Installed(a)")
				}
			})
		}
	}
}

// Without a manifest, as in dotfiles that came from another machine.
func TestOursIsKnownWithoutTheManifest(t *testing.T) {
	for _, a := range installable() {
		t.Run(a.Name, func(t *testing.T) {
			h := newHost(t)
			p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true})
			if err := os.Remove(manifestPath(h.Dirs)); err != nil {
				t.Fatal(err)
			}
			path := p.Agents[0].Path
			text := strings.ReplaceAll(read(t, path), Shim(h.Dirs), "/Users/it's me/.local/share/hookmux/bin/"+
				hookentry.HookName)
			if a.Install.Way != agent.WayPlugin && a.Install.Handler.Form != "exec" {
				text = read(t, path) // quoting would differ
			}
			write(t, path, text)
			// Ours is known by how it is written, whether its program is there or not.
			if d := h.Delivery(a); !d.Ours {
				t.Fatalf("delivery is %+v, want it seen as ours", d)
			}
			mustUninstall(t, h, a)
			left, err := os.ReadFile(path)
			if err == nil && strings.Contains(string(left), "hookmux") {
				t.Errorf("left behind:\n%s; want an error or no \"hookmux\" in string(left)", left)
			}
		})
	}
}

// A file with people's own things in it, byte for byte, with mode and links.
func TestPeoplesFilesComeBackByteForByte(t *testing.T) {
	for name, texts := range peoplesFiles {
		for i, text := range texts {
			a := known(t, name)
			h := newHost(t)
			_, path, _ := a.Install.Place(User, h.diskView(a.Install))
			target := filepath.Join(h.Dirs.Home, "dotfiles", "config")
			write(t, target, text)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			before := picture(t, h.Dirs.Home)
			mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true})
			now := read(t, target)
			if now == text {
				t.Fatalf("%s %d: nothing was written", name, i)
			}
			for line := range strings.Lines(text) {
				if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "//") ||
					strings.HasPrefix(trimmed, "#") {
					if !strings.Contains(now, trimmed) {
						t.Errorf("%s %d: the comment %q is gone", name, i, trimmed)
					}
				}
			}
			if info, _ := os.Lstat(path); info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("%s %d: the link is gone", name, i)
			}
			// By structure first: the manifest is put aside.
			manifest := read(t, manifestPath(h.Dirs))
			stripped, err := h.stripHooks(a, path, []byte(now), recordOf(t, h, path))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(text, string(stripped)); d != "" {
				t.Errorf("%s %d: taking out by structure: %s", name, i, d)
			}
			write(t, manifestPath(h.Dirs), manifest)
			mustUninstall(t, h, a)
			if d := cmp.Diff(before, picture(t, h.Dirs.Home)); d != "" {
				t.Errorf(`%s %d: cmp.Diff(before, picture(t, h.Dirs.Home)) = %s, want ""`, name, i, d)
			}
		}
	}
}

func recordOf(t *testing.T, h *Host, path string) *Record {
	t.Helper()
	m, err := h.load()
	if err != nil {
		t.Fatal(err)
	}
	return m.Files[path]
}

var peoplesFiles = map[string][]string{
	"claude": {
		"{}", "{\n}\n", "\ufeff{\"model\": \"opus\"}\r\n", "{\"hooks\":{}}",
		"{\n  // mine\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"mine\" } ] }, // last\n    ],\n  },\n  \"model\": \"x\" // end\n}",
		"{\"hooks\": {\"Stop\": [], \"PreToolUse\": [ ]},\t\"a\": [1,2]}\n",
	},
	"codex":  {"{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"mine\"}]}]}}\n"},
	"gemini": {"{\n\t\"security\": {\"auth\": {\"selectedType\": \"x\"}}, /* c */\n\t\"hooks\": {\"AfterAgent\": [{\"hooks\": [{\"type\":\"command\",\"command\":\"a\"}]}]}\n}\n"},
	"hermes": {
		"", "# only a comment\n", "model: x", "---\nmodel: x\n...\n",
		"\ufeffmodel: x # mine\r\nhooks:\r\n    pre_tool_call:\r\n    - command: mine\r\n",
		"hooks: {pre_tool_call: [{command: mine}], outbound: []}\nmodel: &m x\nother: *m\n",
		"hooks:\n# nothing yet\nmodel: |\n  two\n\n  lines\n",
		"hooks: # theirs\n  post_tool_call:\n  - command: mine\t# a tab\n    timeout: 5\n\n\n# the end",
		"a: [1,\n  2]\nhooks: {\n  pre_llm_call: [\n    {command: mine}, # one\n  ],\n}\n",
	},
	"kimi": {
		"default_model = \"x\"\n\n[providers.x]\ntype = \"openai\" # mine\n",
		"hooks = []\ndefault_model = \"x\"\n",
		"[[hooks]]\nevent = \"Stop\"\ncommand = \"mine\"\n\n[models.x]\nprovider = \"x\"\n",
		"hooks = [{event = \"Stop\", command = \"mine\"}]\r\nx = 1\r\n",
	},
	"droid": {"{\"customModels\": [{\"id\": \"a\"}],\n \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"a\"}]}]}}"},
	"qwen":  {"{\n    \"a\": 1\n}"},
}

// One file that cannot be read, and nothing is written anywhere.
func TestABrokenFileStopsEverything(t *testing.T) {
	for name, text := range map[string]string{
		"claude": "{\n  \"hooks\": {\n    \"PreToolUse\": [ }\n}\n",
		"gemini": "{\"hooks\": {\"BeforeTool\": {\"not\": \"a list\"}}}",
		"qwen":   "[1]",
		"kimi":   "a = 1\nhooks = \"no list\"\n",
	} {
		h := newHost(t)
		a := known(t, name)
		_, path, _ := a.Install.Place(User, h.diskView(a.Install))
		write(t, path, text)
		before := picture(t, h.Dirs.Home)
		_, err := h.Install(Options{Agents: installable(), Scope: User, Trust: true})
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "line ") {
			t.Errorf(`%s: error %v, want an error, %q in err.Error() and "line " in err.Error()`, name, err, path)
		}
		if d := cmp.Diff(before, picture(t, h.Dirs.Home)); d != "" {
			t.Errorf(`%s: cmp.Diff(before, picture(t, h.Dirs.Home)) = %s, want ""`, name, d)
		}
	}
}

func TestAPluginOfSomebodyElseIsNotOverwritten(t *testing.T) {
	h := newHost(t)
	a := known(t, "opencode")
	_, path, _ := a.Install.Place(User, h.diskView(a.Install))
	write(t, path, "export const Mine = 1\n")
	if _, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: User}); err == nil {
		t.Fatal("it would be")
	}
	mustUninstall(t, h, a)
	if read(t, path) != "export const Mine = 1\n" {
		t.Error("it was taken out")
	}
}

// failing stops before its nth step, as kill -9 would.
type failing struct {
	Disk
	left int
}

var errKilled = errors.New("killed")

func (f *failing) Do(s Step) error {
	if f.left--; f.left < 0 {
		return errKilled
	}
	return f.Disk.Do(s)
}

func TestKilledBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	// One of each way and shape, and the one that must be told.
	agents := []*agent.Agent{known(t, "claude"), known(t, "codex"), known(t, "copilot"), known(t, "opencode"),
		known(t, "kimi")}
	for n := 0; ; n++ {
		h := newHost(t)
		claude := known(t, "claude")
		_, path, _ := claude.Install.Place(User, h.diskView(claude.Install))
		write(t, path, "{ \"mine\": true }")
		before := picture(t, h.Dirs.Home)
		o := Options{Agents: agents, Scope: User, Trust: true}
		p, err := h.Install(o)
		if err != nil {
			t.Fatal(err)
		}
		if n > len(p.Steps) {
			break
		}
		if err := p.Apply(&failing{left: n}); err != nil && !errors.Is(err, errKilled) {
			t.Fatalf("error %v, want not err != nil && !errors.Is(err, errKilled)", err)
		}
		if n%2 == 0 {
			// Once more, to the end.
			mustInstall(t, h, o)
			for _, a := range agents {
				if !h.Installed(a) {
					t.Errorf("killed before step %d: %s is not installed afterwards", n, a.Name)
				}
			}
		}
		out, err := h.Uninstall(agents)
		if err != nil {
			t.Fatal(err)
		}
		if err := out.Apply(&failing{left: n % (len(out.Steps) + 1)}); err != nil && !errors.Is(err, errKilled) {
			t.Fatalf("error %v, want not err != nil && !errors.Is(err, errKilled)", err)
		}
		mustUninstall(t, h, agents...)
		after := picture(t, h.Dirs.Home)
		for rel := range after {
			if rel == ".local/share/hookmux" || strings.HasPrefix(rel, ".local/share/hookmux/") {
				delete(after, rel) // killed before the manifest: only the shim is there
			}
		}
		if d := cmp.Diff(before, after); d != "" {
			t.Fatalf("killed before step %d: %s", n, d)
		}
	}
}

// Codex goes by place: what the user trusted keeps its key.
func TestTrustOfPeoplesOwnHooksStays(t *testing.T) {
	a := known(t, "codex")
	h := newHost(t)
	hooks := filepath.Join(h.Dirs.Home, ".codex/hooks.json")
	config := filepath.Join(h.Dirs.Home, ".codex/config.toml")
	mine := `{"hooks":[{"type":"command","command":"mine"}]}`
	write(t, hooks, `{"hooks":{"PreToolUse":[`+mine+`]}}`)
	state := "model = \"x\"\n\n[hooks.state.\"" + hooks + ":pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:mine\"\n"
	write(t, config, state)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true})
	if !strings.Contains(read(t, config), ":pre_tool_use:1:0") || !strings.Contains(read(t, config), "sha256:mine") {
		t.Fatalf("trust:\n%s; want \":pre_tool_use:1:0\" in read(t, config) and \"sha256:mine\" in read(t, "+
			"config)", read(t, config))
	}
	// A second hook of the user's, behind ours, trusted too.
	text, err := edit.AppendToArray([]byte(read(t, hooks)), []string{"hooks", "PreToolUse"},
		map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "second"}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, hooks, string(text))
	toml, err := edit.TOML.Set([]byte(read(t, config)), hookentry.CodexTrustPath(hooks+":pre_tool_use:2:0"),
		map[string]any{"trusted_hash": "sha256:second"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, string(toml))
	mustUninstall(t, h, a)
	r, err := edit.TOML.Parse([]byte(read(t, config)))
	if err != nil {
		t.Fatal(err)
	}
	var left map[string]map[string]string
	if err := r.Decode(&left, "hooks", "state"); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]string{
		hooks + ":pre_tool_use:0:0": {"trusted_hash": "sha256:mine"},
		hooks + ":pre_tool_use:1:0": {"trusted_hash": "sha256:second"},
	}
	if d := cmp.Diff(want, left); d != "" {
		t.Errorf("left is not as wanted (-want +got):\n%s", d)
	}
}

// Hooks that stand in Codex's config itself, beside their trust.
func TestHooksAndTrustInOneFile(t *testing.T) {
	a := known(t, "codex")
	h := newHost(t)
	config := filepath.Join(h.Dirs.Home, ".codex/config.toml")
	text := "model = \"x\"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n"
	write(t, config, text)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true})
	if h.onDisk().exists(filepath.Join(h.Dirs.Home, ".codex/hooks.json")) {
		t.Error("a second file was made; Codex warns about two")
	}
	if !h.Installed(a) {
		t.Fatalf("not installed, or not trusted:\n%s", read(t, config))
	}
	m := read(t, manifestPath(h.Dirs))
	if err := os.Remove(manifestPath(h.Dirs)); err != nil {
		t.Fatal(err)
	}
	_ = m
	mustUninstall(t, h, a)
	if d := cmp.Diff(text, read(t, config)); d != "" {
		t.Errorf("read(t, config) is not as wanted (-want +got):\n%s", d)
	}
}

// Droid's own /hooks makes a file that hides the one we wrote into.
func TestAFileThatHidesOursIsFixedByInstallingAgain(t *testing.T) {
	a := known(t, "droid")
	h := newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	write(t, filepath.Join(h.Dirs.Home, ".factory/hooks.json"), "{}\n")
	if h.Installed(a) {
		t.Error("a hidden place counts")
	}
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	if filepath.Base(p.Agents[0].Path) != "hooks.json" || !h.Installed(a) {
		t.Error("not moved to the place that counts:", p.Agents[0].Path)
	}
	if h.onDisk().exists(filepath.Join(h.Dirs.Home, ".factory/settings.json")) {
		t.Error("the old place still holds something")
	}
	mustUninstall(t, h, a)
	if read(t, filepath.Join(h.Dirs.Home, ".factory/hooks.json")) != "{}\n" {
		t.Error("not as before:", read(t, filepath.Join(h.Dirs.Home, ".factory/hooks.json")))
	}
}

func TestEventsAndDenyAreHonoured(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Events: []string{"tool.before", "turn.end", "Setup"},
		Deny: true})
	if d := cmp.Diff([]string{"Setup", "PreToolUse", "Stop", "StopFailure"}, p.Agents[0].Events); d != "" {
		t.Errorf("p.Agents[0].Events is not as wanted (-want +got):\n%s", d)
	}
	text := read(t, p.Agents[0].Path)
	if strings.Count(text, `"onFailure": "block"`) != strings.Count(text, hookentry.DenyFlag) ||
		!strings.Contains(text, hookentry.DenyFlag) {
		t.Errorf("text = %q, want strings.Count(text, `\"onFailure\": \"block\"`) = strings.Count(text, "+
			"hookentry.DenyFlag) and hookentry.DenyFlag in it", text)
	}
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Events: []string{"tool.before"}, Neutral: true})
	if text := read(t, p.Agents[0].Path); strings.Contains(text, hookentry.DenyFlag) ||
		strings.Contains(text, "onFailure") || strings.Contains(text, "Stop") {
		t.Errorf(`read(t, p.Agents[0].Path) = %q, want no hookentry.DenyFlag in it, no "onFailure" in it and no `+
			`"Stop" in it`, text)
	}
	if _, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: User,
		Events: []string{"WorktreeCreate"}}); err == nil {
		t.Error("WorktreeCreate is installed")
	}
	if _, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: User, Events: []string{"nonsense"}}); err == nil {
		t.Error("nonsense is an event")
	}
}

func TestVariablesMoveTheConfig(t *testing.T) {
	dir := t.TempDir()
	h := newHost(t, "CLAUDE_CONFIG_DIR", dir)
	a := known(t, "claude")
	if p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}}); p.Agents[0].Path != filepath.Join(dir,
		"settings.json") {
		t.Errorf("p.Agents[0].Path = %q, want %q", p.Agents[0].Path, filepath.Join(dir, "settings.json"))
	}
	if found := h.Find(installable()); len(found) != 1 || found[0].Agent.Name != "claude" {
		t.Errorf(`found = %+v, want 1 of them and found[0].Agent.Name = "claude"`, found)
	}
}

// A folder that two agents use shows nothing about the one that has a folder of its own.
func TestASharedFolderFindsItsOwnerAlone(t *testing.T) {
	h := newHost(t)
	names := func() (out []string) {
		for _, f := range h.Find(installable()) {
			out = append(out, f.Agent.Name)
		}
		return out
	}
	for _, c := range []struct{ dir, want string }{{".gemini", "gemini"}, {".gemini/antigravity-cli", "antigravity gemini"}} {
		if err := os.MkdirAll(filepath.Join(h.Dirs.Home, c.dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(slices.Values(names())), " "); got != c.want {
			t.Errorf("with ~/%s %q are found, want %q", c.dir, got, c.want)
		}
	}
	folders := map[string]string{}
	for _, a := range installable() {
		if dir := h.configDir(a); dir != "" && folders[dir] != "" {
			t.Errorf("%s and %s are both found by %s; say in one's entry which folder is its own (home)", a.Name,
				folders[dir], dir)
		} else {
			folders[dir] = a.Name
		}
	}
}
