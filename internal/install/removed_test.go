package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// recordedFiles are the files into which hooks of an agent were written.
func recordedFiles(t *testing.T, h *Host, a *agent.Agent) (files []string) {
	t.Helper()
	m, err := h.load()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range m.paths() {
		if r := m.Files[path]; r.Agent == a.Name && r.holdsHooks() {
			files = append(files, path)
		}
	}
	if len(files) == 0 {
		t.Fatalf("%s: the record names no file with hooks", a.Name)
	}
	return files
}

// For every agent, hooks that a script removes are a problem until they are installed
// again or uninstalled.
func TestRemovedHooks(t *testing.T) {
	for _, a := range installable() {
		h := newHost(t)
		mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
		if got := h.Removed(a); len(got) > 0 {
			t.Errorf("%s: installed, and %v is reported as removed", a.Name, got)
			continue
		}
		watch := RemovalWatch{Host: h, Agents: []*agent.Agent{a}}
		if got := watch.Look(); len(got) > 0 {
			t.Errorf("%s: installed, and the watch finds %v", a.Name, got)
		}
		for name, remove := range map[string]func(file string) error{
			"the file is gone":    os.Remove,
			"the file is empty":   func(file string) error { return os.Truncate(file, 0) },
			"another text":        func(file string) error { return os.WriteFile(file, []byte("{}\n"), 0o600) },
			"a text that is none": func(file string) error { return os.WriteFile(file, []byte("{ \x00"), 0o600) },
		} {
			for _, file := range recordedFiles(t, h, a) {
				if err := remove(file); err != nil {
					t.Fatal(err)
				}
			}
			// The agent is still on this machine, whatever becomes of its folder.
			if h.configDir(a) != "" {
				if err := os.MkdirAll(h.configDir(a), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			d := h.Delivery(a)
			if len(d.Removed) == 0 || d.Whole || d.Why == "" {
				t.Errorf("%s, %s: %+v; want it reported as removed", a.Name, name, d)
				continue
			}
			if got := watch.Look(); len(got) == 0 {
				t.Errorf("%s, %s: the watch finds nothing", a.Name, name)
			}
			wants := []string{"`hookmux install " + a.Name + "`", "`hookmux uninstall " + a.Name + "`"}
			if d.Removed[0].Err != nil {
				wants = []string{"correct the file", "`hookmux doctor " + a.Name + "`"}
			}
			for _, want := range wants {
				if fix := d.Removed[0].Fix(h.Dirs.Home); !strings.Contains(fix, want) {
					t.Errorf("%s, %s: the fix %q doesn't contain %q", a.Name, name, fix, want)
				}
			}
			found := (&Doctor{Host: h}).Examine(t.Context(), []*agent.Agent{a}, false)
			if !slices.ContainsFunc(found, func(f Finding) bool { return f.Agent == a.Name && f.Level == Bad }) {
				t.Errorf("%s, %s: the doctor finds nothing wrong: %+v", a.Name, name, found)
			}
			if name == "a text that is none" || d.Removed[0].Err != nil {
				for _, file := range recordedFiles(t, h, a) {
					if err := os.Remove(file); err != nil {
						t.Fatal(err)
					}
				}
			}
			mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
			if got := h.Removed(a); len(got) > 0 {
				t.Errorf("%s, %s: installed again, and %v is reported as removed", a.Name, name, got)
			}
		}
		for _, file := range recordedFiles(t, h, a) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		mustUninstall(t, h, a)
		if d := h.Delivery(a); len(d.Removed) > 0 || d.Why != "" {
			t.Errorf("%s: uninstalled, and still %+v", a.Name, d)
		}
		if got := watch.Look(); len(got) > 0 {
			t.Errorf("%s: uninstalled, and the watch finds %v", a.Name, got)
		}
	}
}

// Some hooks of many, the hooks of a project, and changes that don't remove anything.
func TestSomeRemovedHooks(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	file := filepath.Join(h.Dirs.Home, ".claude/settings.json")
	write(t, file, strings.Replace(read(t, file), `"PreToolUse"`, `"Other"`, 1))
	d := h.Delivery(a)
	if len(d.Removed) != 1 || !slices.Contains(d.Removed[0].Events, "PreToolUse") || strings.Count(d.Why, "PreToolUse") != 1 {
		t.Errorf("PreToolUse is gone: %+v; want it reported once", d)
	}
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Events: []string{"PreToolUse"}})
	if d := h.Delivery(a); len(d.Removed) > 0 {
		t.Errorf("fewer were installed: %+v", d.Removed)
	}
	mustUninstall(t, h, a)

	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Scope: Project})
	files := recordedFiles(t, h, a)
	elsewhere := *h
	elsewhere.Project = t.TempDir()
	if got := elsewhere.Removed(a); len(got) > 0 {
		t.Errorf("seen from another project: %v", got)
	}
	for _, file := range files {
		write(t, file, "{}\n")
	}
	for _, from := range []*Host{h, &elsewhere} {
		got := from.Removed(a)
		if len(got) != 1 || got[0].Project != h.Project || !strings.Contains(got[0].Fix(h.Dirs.Home), "--project") {
			t.Errorf("seen from %s: %+v", from.Project, got)
		}
	}
	if err := os.RemoveAll(h.Project); err != nil {
		t.Fatal(err)
	}
	if got := elsewhere.Removed(a); len(got) > 0 {
		t.Errorf("the project is gone: %v", got)
	}
}
