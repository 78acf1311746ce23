package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookmux/hookmux/agent"
)

// A person's own program of the same event stays as it is, and ours gets another
// name that the agent runs as well.
func TestScriptsStandBesideAPersonsOwn(t *testing.T) {
	a := known(t, "cline")
	for _, c := range []struct {
		scope string
		own   []string // endings
		want  string   // the ending of ours; "-": none
	}{
		{User, nil, ""},
		{User, []string{""}, ".sh"},
		{User, []string{".py"}, ""},
		{User, []string{"", ".sh"}, ".bash"},
		{User, []string{"", ".sh", ".bash", ".zsh"}, "-"},
		{Project, []string{""}, ".sh"},
	} {
		t.Run(c.scope+" "+strings.Join(c.own, "+"), func(t *testing.T) {
			h := newHost(t)
			base := map[string]string{User: h.Dirs.Home, Project: h.Project}[c.scope]
			dir := filepath.Join(base, ".cline/hooks")
			for _, end := range c.own {
				write(t, filepath.Join(dir, "PreToolUse"+end), "#!/bin/sh\necho mine\n")
				mustChmod(t, filepath.Join(dir, "PreToolUse"+end))
			}
			root := filepath.Dir(h.Dirs.Home)
			before := picture(t, root)
			o := Options{Agents: []*agent.Agent{a}, Scope: c.scope}
			p := mustInstall(t, h, o)
			if left := c.want == "-"; left != strings.Contains(strings.Join(p.Agents[0].Notes, "\n"),
				"PreToolUse is left out") || left == slices.Contains(p.Agents[0].Events, "PreToolUse") {
				t.Errorf("events %q, notes %q, want PreToolUse left out: %v", p.Agents[0].Events, p.Agents[0].Notes, left)
			}
			if c.want != "-" {
				ours := filepath.Join(dir, "PreToolUse"+c.want)
				if c, ok := ReadScript([]byte(read(t, ours))); !ok || c.Program != Shim(h.Dirs) || c.Event != "PreToolUse" {
					t.Errorf("%s: %s\nwant our program in it", ours, read(t, ours))
				}
				out, err := exec.Command(ours).Output()
				if err != nil || !strings.HasPrefix(string(out), "cline PreToolUse ") {
					t.Errorf("our program said %q, error %v; want the hook called with cline PreToolUse", out, err)
				}
			}
			for _, end := range c.own {
				if got := read(t, filepath.Join(dir, "PreToolUse"+end)); got != "#!/bin/sh\necho mine\n" {
					t.Errorf("PreToolUse%s became %q, want it as it was", end, got)
				}
			}
			if again, err := h.Install(o); err != nil || len(again.Steps) != 0 {
				t.Errorf("installing again: %+v, error %v; want nothing to do", again, err)
			}
			mustUninstall(t, h, a)
			if d := cmp.Diff(before, picture(t, root)); d != "" {
				t.Errorf("after uninstall (-want +got):\n%s", d)
			}
		})
	}
}

// A name that gets free is not moved to: agents and people know the file.
func TestScriptsStayUnderTheirName(t *testing.T) {
	a, h := known(t, "cline"), newHost(t)
	own := filepath.Join(h.Dirs.Home, ".cline/hooks/PreToolUse")
	write(t, own, "#!/bin/sh\n")
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}}); len(p.Steps) != 0 {
		t.Errorf("steps %+v, want none", p.Steps)
	}
}

func TestTheDoctorLooksAtScripts(t *testing.T) {
	a := known(t, "cline")
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, file string)
		check string
		level Level
		says  string
		fixes bool
	}{
		{"cannot be run", func(t *testing.T, file string) {
			if err := os.Chmod(file, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "intact", Bad, "PreToolUse: cannot be run", false},
		{"gone", func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}, "missing", Bad, "PreToolUse", true},
		{"of an older version", func(t *testing.T, file string) {
			write(t, file, strings.ReplaceAll(read(t, file), "PreToolUse 120", "PreToolUse 7"))
		}, "intact", Bad, "PreToolUse: its text differs", true},
		{"with a person's line", func(t *testing.T, file string) {
			write(t, file, read(t, file)+"echo more\n")
		}, "intact", Bad, "PreToolUse: names hookmux", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
			c.spoil(t, filepath.Join(h.Dirs.Home, ".cline/hooks/PreToolUse"))
			d, all := examine(h, a, nil)
			f := finding(all, c.check)
			if f == nil || f.Level != c.level || !strings.Contains(f.What, c.says) {
				t.Fatalf("finding %s = %+v, want level %s and %q in it; all: %+v", c.check, f, c.level, c.says, all)
			}
			if slices.Contains(h.Delivery(a).Events, "PreToolUse") != (c.says == "PreToolUse: its text differs") {
				t.Errorf("events that are believed to run: %q", h.Delivery(a).Events)
			}
			if _, err := d.Fix(all, never, &Disk{}); err != nil {
				t.Fatal(err)
			}
			if _, all := examine(h, a, nil); c.fixes && finding(all, c.check) != nil &&
				finding(all, c.check).Level == Bad {
				t.Errorf("still %+v after fixing", finding(all, c.check))
			}
		})
	}
}

// Goose takes a folder for a plugin only with plugin.json in it.
func TestTheFileBesideOursIsMissed(t *testing.T) {
	a, h := known(t, "goose"), newHost(t)
	root := filepath.Dir(h.Dirs.Home)
	before := picture(t, root)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	beside := filepath.Join(h.Dirs.Home, ".agents/plugins/hookmux/plugin.json")
	if text := read(t, beside); !strings.Contains(text, `"name": "hookmux"`) {
		t.Errorf("plugin.json = %q, want the plugin's name in it", text)
	}
	if err := os.Remove(beside); err != nil {
		t.Fatal(err)
	}
	d, all := examine(h, a, nil)
	f := finding(all, "intact")
	if f == nil || f.Level != Bad || !strings.Contains(f.What, "plugin.json beside it is gone") || h.Installed(a) {
		t.Fatalf("f = %+v, installed %v; want a bad one about plugin.json, and nothing believed to run", f, h.Installed(a))
	}
	if _, err := d.Fix(all, never, &Disk{}); err != nil || !h.Installed(a) {
		t.Errorf("error %v, installed %v; want it fixed", err, h.Installed(a))
	}
	mustUninstall(t, h, a)
	after := picture(t, root)
	delete(after, "home/.local/state/hookmux/install.lock") // fixing takes it
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("after uninstall (-want +got):\n%s", d)
	}
}
