package install

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// newHost is a person with an empty home of their own.
func newHost(t testing.TB, env ...string) *Host {
	t.Helper()
	return hostAt(t, t.TempDir(), env...)
}

// hostAt returns the same below a folder of the caller's choice.
func hostAt(t testing.TB, base string, env ...string) *Host {
	t.Helper()
	home, project := filepath.Join(base, "home"), filepath.Join(base, "project")
	bin := filepath.Join(base, "bin")
	for _, dir := range []string{home, project, bin} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	hook := filepath.Join(bin, hookentry.HookName)
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ncat >/dev/null\necho \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"HOME": home, "PATH": bin + ":/usr/bin:/bin"}
	for i := 0; i+1 < len(env); i += 2 {
		vars[env[i]] = env[i+1]
	}
	getenv := func(name string) string { return vars[name] }
	dirs, err := paths.Find(getenv)
	if err != nil {
		t.Fatal(err)
	}
	dirs.Runtime = filepath.Join(base, "run")
	return &Host{Dirs: dirs, Project: project, Getenv: getenv, Hook: hook, Version: "1.2.3"}
}

func known(t testing.TB, name string) *agent.Agent {
	t.Helper()
	a, ok := agent.Builtin().Agent(name)
	if !ok || a.Install == nil {
		t.Fatalf("%s is not in the catalogue", name)
	}
	return a
}

// installable returns all agents hookmux can be written into.
func installable() []*agent.Agent {
	var out []*agent.Agent
	for _, a := range agent.Builtin().Agents() {
		if a.Install != nil {
			out = append(out, a)
		}
	}
	return out
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func mustInstall(t testing.TB, h *Host, o Options) *Plan {
	t.Helper()
	if o.Scope == "" {
		o.Scope = User
	}
	p, err := h.Install(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(&Disk{}); err != nil {
		t.Fatal(err)
	}
	return p
}

func mustUninstall(t testing.TB, h *Host, agents ...*agent.Agent) *Plan {
	t.Helper()
	p, err := h.Uninstall(agents)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(&Disk{}); err != nil {
		t.Fatal(err)
	}
	return p
}

// picture returns every file, folder and link of a tree with what is in it.
func picture(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			out[rel] = "folder " + info.Mode().String()
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			out[rel] = "link " + to
		default:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[rel] = info.Mode().String() + " " + string(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// Where our own state was is no business of anybody.
	for _, ours := range []string{".local", ".local/share", ".local/state", ".local/state/hookmux"} {
		delete(out, ours)
		delete(out, filepath.Join("home", ours))
	}
	return out
}

func mustChmod(t testing.TB, path string) {
	t.Helper()
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}
