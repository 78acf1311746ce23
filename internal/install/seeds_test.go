package install

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// What lies beside the plugin so that OpenCode starts without a network.
func TestSeedsGoWithTheHooks(t *testing.T) {
	h := newHost(t)
	a := known(t, "opencode")
	dir := filepath.Join(h.Dirs.Home, ".config/opencode")
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	for _, name := range []string{"node_modules", "package-lock.json"} {
		if !h.onDisk().exists(filepath.Join(dir, name)) {
			t.Errorf("no %s; want h.onDisk().exists(filepath.Join(dir, name))", name)
		}
	}
	if p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}}); len(p.Steps) > 0 {
		t.Errorf("installing again does %+v", p.Steps)
	}
	// A package that the agent itself put there stays.
	write(t, filepath.Join(dir, "node_modules/x/index.js"), "")
	mustUninstall(t, h, a)
	if !h.onDisk().exists(filepath.Join(dir, "node_modules/x/index.js")) ||
		h.onDisk().exists(filepath.Join(dir, "package-lock.json")) {
		t.Error("the agent's own went, or ours stayed")
	}
}

// With other people's plugins there the agent really has to fetch what they
// import: half a seed, or one beside them, would make it believe it did.
func TestSeedsAreNotLaidBesideOthers(t *testing.T) {
	for _, theirs := range []string{"package-lock.json", "package.json", "node_modules/x/package.json",
		"plugins/mine.ts", "plugin/mine.js", "bun.lock"} {
		t.Run(theirs, func(t *testing.T) {
			h := newHost(t)
			a := known(t, "opencode")
			dir := filepath.Join(h.Dirs.Home, ".config/opencode")
			write(t, filepath.Join(dir, theirs), "{}")
			before := picture(t, h.Dirs.Home)
			p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
			for _, s := range p.Steps {
				if s.Why != "" {
					t.Errorf(`s.Op = %s, s.Path = %s; want s.Why = ""`, s.Op, s.Path)
				}
			}
			mustUninstall(t, h, a)
			if after := picture(t, h.Dirs.Home); len(after) != len(before) ||
				read(t, filepath.Join(dir, theirs)) != "{}" {
				t.Errorf(`before = %+v, after = %+v; want len(after) = len(before) and read(t, filepath.Join(dir, `+
					`theirs)) = "{}"`, before, after)
			}
		})
	}
}

func TestSeedsGoWhenOthersCome(t *testing.T) {
	h := newHost(t)
	a := known(t, "opencode")
	dir := filepath.Join(h.Dirs.Home, ".config/opencode")
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	write(t, filepath.Join(dir, "plugins/mine.ts"), `import { tool } from "@opencode-ai/plugin"`)
	d, all := examine(h, a, nil)
	f := finding(all, "seeds")
	if f == nil || f.Level != Bad || !strings.Contains(f.What, "mine.ts") {
		t.Fatalf(`f = %+v, want other than nil, f.Level = Bad and "mine.ts" in f.What`, f)
	}
	if _, err := d.Fix(all, never, &Disk{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"node_modules", "package-lock.json"} {
		if h.onDisk().exists(filepath.Join(dir, name)) {
			t.Errorf("%s is still there", name)
		}
	}
	if _, all := examine(h, a, nil); finding(all, "seeds") != nil ||
		!h.onDisk().exists(filepath.Join(dir, "plugins/hookmux.js")) {
		t.Errorf(`all = %+v, want finding(all, "seeds") = nil and h.onDisk().exists(filepath.Join(dir, `+
			`"plugins/hookmux.js"))`, all)
	}
}

func never(string) bool  { return false }
func always(string) bool { return true }
