// Package sandbox makes throw-away homes in which hookmux's programs run, for tests
// and for the tools that start the real programs (bench, chaos, demo). Everything of a
// home stands below one folder; nothing of whoever runs the test is in it.
package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Home is one person's home, with a project and a place for the programs.
type Home struct {
	Base    string     // all of it is below
	Project string     // the root of a repository
	Bin     string     // where InstallPrograms puts the programs
	Env     []string   // the whole environment of the programs
	Dirs    paths.Dirs // the folders that Env names
}

// Options of New.
type Options struct {
	// Base is a folder of the caller's; empty: a new one.
	Base string
	// InHome puts project, config, state and data where people have them: below the home.
	// They stand beside it otherwise.
	InHome bool
	// Project is a folder of the caller's that becomes the project.
	Project string
	// Env are further variables, which win over those of the sandbox.
	Env []string
}

// ShortDir makes a temporary folder whose path leaves room for a socket's address,
// which has about a hundred bytes.
func ShortDir() (string, error) {
	dir, err := os.MkdirTemp("/tmp", "hm")
	if err != nil {
		dir, err = os.MkdirTemp("", "hm")
	}
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// TempDir is ShortDir for a test: the folder goes when the test ends.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := ShortDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// New makes a home. Remove takes it away again.
func New(o Options) (*Home, error) {
	base := o.Base
	if base == "" {
		var err error
		if base, err = ShortDir(); err != nil {
			return nil, err
		}
	}
	home := filepath.Join(base, "home")
	h := &Home{Base: base, Project: o.Project, Bin: filepath.Join(base, "bin")}
	parent, config, state, data := base, "config", "state", "data"
	if o.InHome {
		parent, config, state, data = home, ".config", ".local/state", ".local/share"
	}
	if h.Project == "" {
		h.Project = filepath.Join(parent, "project")
	}
	h.Env = replaceVariables([]string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(parent, config),
		"XDG_STATE_HOME=" + filepath.Join(parent, state), "XDG_DATA_HOME=" + filepath.Join(parent, data),
		paths.RuntimeVariable + "=" + filepath.Join(base, "run"), "PATH=/usr/local/bin:/usr/bin:/bin",
	}, o.Env)
	var err error
	if h.Dirs, err = paths.Find(paths.GetenvFrom(h.Env)); err != nil {
		return nil, err
	}
	h.Dirs.System = filepath.Join(base, "etc") // what the machine's owner wrote is no part of a test
	for _, dir := range []string{home, h.Bin} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return h, h.WriteFiles(map[string]string{filepath.Join(h.Project, ".git/HEAD"): "ref: refs/heads/main\n"})
}

// replaceVariables sets variables in an environment, each of which is there once.
func replaceVariables(env, set []string) []string {
	for _, one := range set {
		name, _, _ := strings.Cut(one, "=")
		at := slices.IndexFunc(env, func(other string) bool { return strings.HasPrefix(other, name+"=") })
		if at < 0 {
			env = append(env, one)
		} else {
			env[at] = one
		}
	}
	return env
}

// NewForTest makes a home that goes when the test ends.
func NewForTest(t testing.TB, o Options) *Home {
	t.Helper()
	if o.Base == "" {
		o.Base = TempDir(t)
	}
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// WriteFiles writes texts by path, with their folders. Paths are below the base unless
// they are absolute.
func (h *Home) WriteFiles(files map[string]string) error {
	var failed error
	for name, text := range files {
		if !filepath.IsAbs(name) {
			name = filepath.Join(h.Base, name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		failed = errors.Join(failed, os.WriteFile(name, []byte(text), 0o600))
	}
	return failed
}

// MustWrite writes one file for a test.
func (h *Home) MustWrite(t testing.TB, name, text string) {
	t.Helper()
	if err := h.WriteFiles(map[string]string{name: text}); err != nil {
		t.Fatal(err)
	}
}

// Program returns the path of an installed program.
func (h *Home) Program(name string) string { return filepath.Join(h.Bin, name) }

// InstallPrograms puts both programs of a folder in place, as an upgrade does: under
// the same names, by renaming.
func (h *Home) InstallPrograms(from string) error {
	for _, name := range []string{"hookmux", "hookmux-hook"} {
		to := h.Program(name)
		if err := linkOrCopy(filepath.Join(from, name), to+".new"); err != nil {
			return err
		}
		if err := os.Rename(to+".new", to); err != nil {
			return err
		}
		_ = os.Remove(to + ".new") // renaming onto another name of the same file does nothing
	}
	return nil
}

// linkOrCopy gives a program a second name: a copy where file systems differ.
func linkOrCopy(from, to string) error {
	_ = os.Remove(to)
	if os.Link(from, to) == nil {
		return nil
	}
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o700)
}
