package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// A file that cannot be read and has nothing to do with us is in nobody's way;
// one that hookmux is in is named, and the others come out all the same.
func TestBrokenFilesDoNotKeepOthersIn(t *testing.T) {
	t.Parallel()
	claude, gemini, codex := known(t, "claude"), known(t, "gemini"), known(t, "codex")
	for _, c := range []struct {
		name, text string
		recorded   bool
		left       int
	}{
		{"not ours", "{ nonsense", false, 0},
		{"names us", "{ nonsense hookmux-hook", false, 1},
		{"recorded", "{ nonsense", true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			broken := filepath.Join(h.Dirs.Home, ".gemini", "settings.json")
			agents := []*agent.Agent{claude}
			if c.recorded {
				agents = append(agents, gemini)
			}
			mustInstall(t, h, Options{Agents: agents})
			write(t, broken, c.text)
			p := mustUninstall(t, h, installable()...)
			if len(p.Left) != c.left || len(p.Agents) != 1 || p.Agents[0].Name != "claude" {
				t.Errorf(`left %v, agents %+v; want len(p.Left) == c.left, len(p.Agents) == 1 and `+
					`p.Agents[0].Name == "claude"`, p.Left, p.Agents)
			}
			if h.onDisk().exists(filepath.Join(h.Dirs.Home, ".claude", "settings.json")) {
				t.Error("the other one is still there")
			}
			if read(t, broken) != c.text {
				t.Error("the broken one was changed")
			}
			notes := strings.Join(p.Notes, "\n")
			if strings.Contains(notes, broken) != (c.left > 0) || strings.Contains(notes, "nothing was written") {
				t.Errorf(`notes = %q, want strings.Contains(notes, broken) = (c.left > 0) and no "nothing was `+
					`written" in it`, notes)
			}
			m, err := h.load()
			if err != nil || hasRecord(m, gemini) != c.recorded {
				t.Errorf("record of the broken one: %v (%v)", m.Files, err)
			}
			if _, there := h.onDisk().readlink(Shim(h.Dirs)); there != (c.left > 0) {
				t.Errorf("the shim is there: %v", there)
			}
		})
	}
	t.Run("trust", func(t *testing.T) {
		h := newHost(t)
		write(t, h.trustOf(codex).file(), "model = 1\n")
		p := mustInstall(t, h, Options{Agents: []*agent.Agent{codex}, Trust: true})
		write(t, h.trustOf(codex).file(), "model = = 1\n")
		out := mustUninstall(t, h, codex)
		if h.onDisk().exists(p.Agents[0].Path) || len(out.Left) != 1 {
			t.Errorf("left %v; want !h.onDisk().exists(p.Agents[0].Path) and len(out.Skipped) == 1", out.Left)
		}
	})
}

// Without a record the shim stays as long as another agent runs it.
func TestShimStaysWhileItIsRun(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Known = installable()
	claude, gemini := known(t, "claude"), known(t, "gemini")
	mustInstall(t, h, Options{Agents: []*agent.Agent{claude, gemini}})
	if err := os.Remove(manifestPath(h.Dirs)); err != nil {
		t.Fatal(err)
	}
	mustUninstall(t, h, gemini)
	if _, there := h.onDisk().readlink(Shim(h.Dirs)); !there {
		t.Error("the shim is gone, and Claude still runs it")
	}
	mustUninstall(t, h, claude)
	if _, there := h.onDisk().readlink(Shim(h.Dirs)); there {
		t.Error("the shim is still there")
	}
}

// In the usual case there is nothing to remark; also when the project is the
// home, and when the home has two names.
func TestNothingToRemark(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"project", "home", "linked home"} {
		t.Run(where, func(t *testing.T) {
			h := newHost(t)
			before := picture(t, h.Dirs.Home)
			switch where {
			case "home":
				h.Project = h.Dirs.Home
			case "linked home":
				h.Project = filepath.Join(filepath.Dir(h.Dirs.Home), "link")
				if err := os.Symlink(h.Dirs.Home, h.Project); err != nil {
					t.Fatal(err)
				}
			}
			write(t, filepath.Join(h.Dirs.Home, ".codex", "config.toml"), "model = \"x\"\n")
			mustInstall(t, h, Options{Agents: installable(), Trust: true})
			p := mustUninstall(t, h, installable()...)
			if len(p.Notes) > 0 || len(p.Left) > 0 {
				t.Errorf("%q, left %q; want len(p.Notes) <= 0 and len(p.Skipped) <= 0", p.Notes, p.Left)
			}
			for _, a := range p.Agents {
				if a.Path == "" || !a.Changed {
					t.Errorf("a = %+v, want a.Path not empty and a.Changed", a)
				}
			}
			seen := map[string]bool{}
			for _, s := range p.Steps {
				if key := string(s.Op) + h.onDisk().realPath(s.Path); s.Op != OpDropDir {
					if seen[key] {
						t.Errorf("%s %s: twice; want !seen[key]", s.Op, s.Path)
					}
					seen[key] = true
				}
			}
			for path := range picture(t, h.Dirs.Home) {
				if _, was := before[path]; !was && !strings.HasPrefix(path, ".codex") {
					t.Errorf(`%s: left behind; want was or path to begin with ".codex"`, path)
				}
			}
		})
	}
}

// Somebody removed the file: only the record goes, and the file stays gone.
func TestRemovedFilesStayRemoved(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	claude := known(t, "claude")
	settings := filepath.Join(h.Dirs.Home, ".claude", "settings.json")
	write(t, settings, "{}\n")
	mustInstall(t, h, Options{Agents: []*agent.Agent{claude}})
	if err := os.Remove(settings); err != nil {
		t.Fatal(err)
	}
	p := mustUninstall(t, h, claude)
	if len(p.Agents) != 1 || p.Agents[0].Path != settings || p.Agents[0].Changed || h.onDisk().exists(settings) {
		t.Errorf("p.Agents = %+v, want 1 of them, p.Agents[0].Path = %q, not p.Agents[0].Changed and not "+
			"h.onDisk().exists(settings)", p.Agents, settings)
	}
}

// The config folder was elsewhere when hookmux was installed, and the file was
// changed since.
func TestFilesThatAreNoPlaceAnyMore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := newHost(t, "CLAUDE_CONFIG_DIR", dir)
	claude := known(t, "claude")
	settings := filepath.Join(dir, "settings.json")
	write(t, settings, "{\n  \"a\": 1\n}\n")
	mustInstall(t, h, Options{Agents: []*agent.Agent{claude}})
	write(t, settings, strings.Replace(read(t, settings), "1", "2", 1))
	old := h.Getenv
	h.Getenv = func(name string) string {
		if name == "CLAUDE_CONFIG_DIR" {
			return ""
		}
		return old(name)
	}
	p := mustUninstall(t, h, claude)
	if got := read(t, settings); got != "{\n  \"a\": 2\n}\n" || len(p.Notes) > 0 {
		t.Errorf(`read(t, settings) = %s, p.UserNotes = %q; want "{\n \"a\": 2\n}\n" and no p.UserNotes`, got, p.Notes)
	}
}
