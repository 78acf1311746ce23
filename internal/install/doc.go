// Package install writes hookmux into the config files of coding agents and
// takes it out again.
//
// Those files belong to somebody else. The package knows formats and shapes,
// and no agent: what is written where stands in the catalogue
// ([agent.InstallSpec]). Contract:
//
//   - Everything is planned before anything is written: a file that cannot be
//     read or does not say what it should makes the whole plan fail.
//   - A plan is a list of steps, and steps are carried out by an [Editor]:
//     [Disk] does them, [Diff] shows them, [Recorder] keeps them.
//   - Each step leaves the old file or the new one. Steps come in this order:
//     the shim, the manifest, the agents' files, what agents must be told. So
//     whatever was written is in the manifest, and a record of something that
//     was not written does no harm: the file still has its old hash.
//     Taking out goes the other way round, the manifest last.
//   - What is ours is recognised by the command string alone, so that it is
//     found in synced dotfiles as well. An entry that mentions us and is not
//     as we write it is left alone and reported.
//   - The manifest keeps what each file was before. Nothing else changed:
//     taking out gives back the same bytes. Otherwise exactly our entries go.
package install

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/paths"
)

// Scopes.
const (
	User    = "user"
	Project = "project"
)

// Host is the user's place on this machine, as a command sees it.
type Host struct {
	Dirs    paths.Dirs
	Project string // the folder "./" stands for
	Getenv  func(string) string
	Hook    string // the real hookmux-hook
	Version string // of hookmux
	// Known are all agents: the shim stays as long as one of them runs it.
	Known []*agent.Agent
}

// check keeps tests away from the home of whoever runs them.
func (h *Host) check() error {
	if !testing.Testing() {
		return nil
	}
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err == nil && filepath.Clean(u.HomeDir) == filepath.Clean(h.Dirs.Home) {
		return fmt.Errorf("%s: is a real home, and this is a test; set HOME to a temporary folder", h.Dirs.Home)
	}
	return nil
}

func (h *Host) resolve(f agent.HookFile) string {
	return f.Resolve(h.Dirs.Home, h.Project, h.Getenv)
}

// look is how the catalogue sees this machine.
func (h *Host) look(spec *agent.InstallSpec) agent.Look {
	return agent.Look{
		Resolve: h.resolve,
		Exists:  func(path string) bool { info, err := os.Stat(path); return err == nil && !info.IsDir() },
		Used: func(path string, place agent.InstallPlace) bool {
			t, err := newTarget(path, place, spec)
			if err != nil {
				return false
			}
			src, err := readFile(path)
			if err != nil || src == nil {
				return false
			}
			r, err := t.format.Parse(src)
			return err == nil && t.used(r)
		},
	}
}

// readFile is nil for a file that is not there.
func readFile(path string) ([]byte, error) {
	data, err := edit.ReadFile(path, edit.MaxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// broken is the error for a file that cannot be edited.
func broken(path string, err error) error { return &brokenError{path, err} }

type brokenError struct {
	path string
	err  error
}

func (e *brokenError) Error() string {
	return fmt.Sprintf("%s: %v; correct it and run the command again (nothing was written anywhere)", e.path, e.err)
}

func (e *brokenError) Unwrap() error { return e.err }
