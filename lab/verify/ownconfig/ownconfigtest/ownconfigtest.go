// Package ownconfigtest creates users with a config of their own for tests, and sees whether
// anything in a folder has changed.
package ownconfigtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/lab/verify/ownconfig"
)

// ReadTree reads every file below a folder.
func ReadTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(b)
		}
		out[path] = info.Mode().String() + "\n" + text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// CheckTree fails when something below a folder is not as it was read.
func CheckTree(t *testing.T, dir string, was map[string]string) {
	t.Helper()
	now := ReadTree(t, dir)
	for path, text := range now {
		if old, ok := was[path]; !ok {
			t.Errorf("%s is new", path)
		} else if old != text {
			t.Errorf("%s was changed", path)
		}
	}
	for path := range was {
		if _, ok := now[path]; !ok {
			t.Errorf("%s is gone", path)
		}
	}
}

// Person is a user with a home and a project.
type Person struct {
	*ownconfig.Config
	t *testing.T
}

// NewPerson has an empty home and an empty project.
func NewPerson(t *testing.T) Person {
	return Person{&ownconfig.Config{Home: t.TempDir(), Project: t.TempDir(), Getenv: func(string) string { return "" }},
		t}
}

// WriteFile writes a file below the home and returns its path.
func (p Person) WriteFile(rel, text string) string {
	p.t.Helper()
	file := filepath.Join(p.Home, rel)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return file
}

// InstallHookmux installs hookmux into the user's own config.
func (p Person) InstallHookmux(name, hook string, o install.Options) {
	p.t.Helper()
	dirs, err := paths.Find(func(n string) string { return map[string]string{"HOME": p.Home}[n] })
	if err != nil {
		p.t.Fatal(err)
	}
	a, _ := agent.Builtin().Agent(name)
	o.Agents, o.Scope = []*agent.Agent{a}, install.User
	h := &install.Host{Dirs: dirs, Project: p.Project, Getenv: p.Getenv, Hook: hook, Version: "1.2.3"}
	plan, err := h.Install(o)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := plan.Apply(&install.Disk{}); err != nil {
		p.t.Fatal(err)
	}
}
