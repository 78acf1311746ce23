// Package install writes hookmux into the config files of coding agents and removes it again.
//
// Those files belong to someone else. The package knows formats and shapes, and no agent:
// what is written where is in the catalogue ([agent.InstallSpec]). Contract:
//
//   - Everything is planned before anything is written: a file that can't be read or doesn't
//     have the expected content makes the whole plan fail.
//   - A plan is a list of steps, and steps are carried out by an [Editor]: [Disk] does them,
//     [Diff] shows them.
//   - Each step leaves the old file or the new one. Steps come in this order: the shim, the
//     manifest, the agents' files, agents' settings and trust. So whatever was written is in
//     the manifest, and a record of something that wasn't written does no harm: the file
//     still has its old hash. Removal goes in the opposite order, with the manifest last.
//   - What is ours is recognised by the command string alone, so that it is found in synced
//     dotfiles as well. An entry that mentions us but isn't as we write it is left alone and
//     reported.
//   - The manifest keeps what each file was before. If nothing else changed, removal restores
//     the same bytes. Otherwise exactly our entries are removed.
package install

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Scopes.
const (
	User    = "user"
	Project = "project"
)

// Host is the user's place on this machine, as a command sees it.
type Host struct {
	Dirs    paths.Dirs
	Project string // the folder that "./" means
	Getenv  func(string) string
	Hook    string // the real hookmux-hook, or where its copy will be
	Copied  string // as in ShimTarget
	Version string // of hookmux
	// AgentVersion asks an agent on this machine for its version; nil, or
	// empty, is not known.
	AgentVersion func(*agent.Agent) string
	files        files // nil: those on the disk
	targets      map[string]*hookentry.Target
	// Open lists the processes of an agent that are running now; nil if that isn't known.
	Open func(*agent.Agent) []int
	// Known are all agents: the shim stays as long as one of them runs it.
	Known []*agent.Agent
}

// refuseRealHome keeps tests away from the home of the user who runs them, including those of
// other packages and of scripts that run the program: that's why it is here and not in a
// test. Linking package testing costs the program 8 KB.
func (h *Host) refuseRealHome() error {
	if !testing.Testing() {
		return nil
	}
	if home := realHome(); home != "" && home == filepath.Clean(h.Dirs.Home) {
		return fmt.Errorf("%s: is a real home, and this is a test; set HOME to a temporary folder", h.Dirs.Home)
	}
	return nil
}

var realHome = sync.OnceValue(func() string {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return ""
	}
	return filepath.Clean(u.HomeDir)
})

func (h *Host) resolvePath(f agent.HookFile) string {
	return f.Resolve(h.Dirs.Home, h.Project, h.Getenv)
}

// installSpec returns how an agent is written into, with nothing in it that the version on
// this machine does not know.
func (h *Host) installSpec(a *agent.Agent, deny bool) *agent.InstallSpec {
	closed := a.Install.Closed
	if !deny || closed == nil || closed.Since == "" || h.AgentVersion == nil || closed.KnownTo(h.AgentVersion(a)) {
		return a.Install
	}
	spec := *a.Install
	spec.Closed = nil
	return &spec
}

// diskView returns how the catalogue sees this machine.
func (h *Host) diskView(spec *agent.InstallSpec) agent.DiskView {
	return agent.DiskView{
		Resolve: h.resolvePath,
		Exists:  h.onDisk().isFile,
		Used: func(path string, place agent.InstallPlace) bool {
			t, err := hookentry.NewTarget(path, place, spec)
			if err != nil {
				return false
			}
			src, err := h.onDisk().read(path)
			if err != nil || src == nil {
				return false
			}
			r, err := t.Format.Parse(src)
			return err == nil && len(t.Handlers(r)) > 0
		},
	}
}

// target returns the one for a place; the same again as long as nothing about it
// changed, because several plans look at the same text.
func (h *Host) target(path string, place agent.InstallPlace, spec *agent.InstallSpec) (*hookentry.Target, error) {
	key := path + "\x00" + place.At
	if t := h.targets[key]; t != nil && t.Spec == spec {
		return t, nil
	}
	t, err := hookentry.NewTarget(path, place, spec)
	if err == nil {
		if h.targets == nil {
			h.targets = map[string]*hookentry.Target{}
		}
		h.targets[key] = t
	}
	return t, err
}
