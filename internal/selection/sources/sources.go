// Package sources collects what the daemon and `hookmux evaluate` decide by: settings, hooks
// and trust, read from where the user keeps them, and the built-in guards that
// follow from them. Both use this one package, so that a call is evaluated by the
// same rules whether a daemon answers or not.
package sources

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// Options says where things are.
type Options struct {
	Dirs      paths.Dirs
	Catalogue *agent.Catalogue
	// Environ lets HOOKMUX_* settings count.
	Environ []string
	// Accepted says what of the user's files is in force. Nil: whatever they
	// hold.
	Accepted *accepted.Store
}

// Sources reads settings, hooks and trust.
type Sources struct {
	Options
	Config   *config.Loader
	Registry *registry.Registry
	Trust    *trust.Store
	Rules    *ruleset.Loader
}

// New makes the sources; nothing is read before it is asked for.
func New(o Options) *Sources {
	s := &Sources{Options: o}
	known := registry.Known{Agent: s.KnowsAgent, Type: s.KnowsType}
	s.Config = config.New(config.Options{
		System: o.Dirs.System, User: o.Dirs.Config, State: o.Dirs.State, Environ: o.Environ, Accepted: o.Accepted,
	})
	s.Trust = trust.New(trust.Options{State: o.Dirs.State, Parse: func(b []byte) ([]hook.Registration, error) {
		return parseHooks(b, known)
	}})
	s.Rules = ruleset.New(ruleset.Options{
		System: o.Dirs.System, User: o.Dirs.Config, State: o.Dirs.State, Accepted: o.Accepted,
		Packs: packstore.New(o.Dirs.State),
	})
	s.Registry = registry.New(registry.Options{
		GlobalFile: filepath.Join(o.Dirs.Config, registry.FileName), State: o.Dirs.State, Home: o.Dirs.Home,
		OwnDirs: []string{o.Dirs.Config, o.Dirs.OpenState(), o.Dirs.OpenRuntime(), o.Dirs.Data},
		Known:   known, KnownProject: s.Trust.Known, Accepted: o.Accepted,
	})
	return s
}

// OpenAccepted reads the accepted state of an installation.
func OpenAccepted(dirs paths.Dirs, readOnly bool) *accepted.Store {
	return accepted.Open(accepted.Options{
		Config: dirs.Config, State: dirs.State, Data: dirs.Data, Copies: dirs.OpenState(), ReadOnly: readOnly,
	})
}

// KnowsAgent reports whether the catalogue has an agent.
func (s *Sources) KnowsAgent(name string) bool {
	_, ok := s.Catalogue.Agent(name)
	return ok
}

// KnowsType reports whether a native name is one of the agent's, or of any
// agent's for "*".
func (s *Sources) KnowsType(name, native string) bool {
	if a, ok := s.Catalogue.Agent(name); ok {
		_, ok = a.Event(native)
		return ok
	}
	for _, a := range s.Catalogue.Agents() {
		if _, ok := a.Event(native); ok && name == hook.Any {
			return true
		}
	}
	return false
}

// AgentName returns the catalogue's own name of an agent that may be written by an
// alias.
func (s *Sources) AgentName(name string) string {
	if a, ok := s.Catalogue.Agent(name); ok {
		return a.Name
	}
	return name
}

// HooksIn gives the hooks that count in a project: the user's own, and of the
// project's what is trusted.
func (s *Sources) HooksIn(root string) (*registry.Set, *trust.TrustedContent) {
	if root == "" {
		return s.Registry.Load("", ""), nil
	}
	f := s.Trust.InForce(root)
	return s.Registry.Load(f.Hooks, f.ShownAs), f
}

// SettingsIn gives the settings that count in a project.
func (s *Sources) SettingsIn(root string, trusted *trust.TrustedContent) *config.Settings {
	return s.Config.For(root, trusted != nil && trusted.Status == trust.Trusted)
}

func parseHooks(b []byte, known registry.Known) ([]hook.Registration, error) {
	parsed, problems := registry.Parse(b, known)
	if len(problems) > 0 {
		return nil, errors.New(problems[0].String())
	}
	list := make([]hook.Registration, len(parsed))
	for i := range parsed {
		list[i] = parsed[i].Registration
	}
	return list, nil
}

// ProtectedPaths returns what guard.own-files keeps agents from writing: hookmux's own
// places, every agent's hook config, and what the caller adds.
func (s *Sources) ProtectedPaths(roots []string, more ...string) []string {
	d := s.Dirs
	list := append([]string{d.Config, d.OpenState(), d.OpenRuntime(), d.Data, d.System}, more...)
	if d.IsSystem() {
		list = append(list, paths.SystemFolder, paths.KeeperRun, paths.KeeperState)
	}
	for _, root := range roots {
		list = append(list, filepath.Join(root, registry.DirName))
	}
	for _, a := range s.Catalogue.Agents() {
		for _, f := range a.Files {
			list = append(list, filesNamed(f.Path, d.Home, roots)...)
		}
	}
	return list
}

// filesNamed returns the absolute paths that the path of an entry means, unless that is all
// of a project or a home.
func filesNamed(path, home string, roots []string) []string {
	var list []string
	for _, name := range agent.ExpandFileNames(path) {
		if name == "./" || name == "~/" || name == "/" {
			continue
		}
		below, inHome := strings.CutPrefix(name, "~/")
		switch {
		case inHome:
			list = append(list, filepath.Join(home, below))
		case filepath.IsAbs(name):
			list = append(list, filepath.Clean(name))
		default: // of a project
			for _, root := range roots {
				list = append(list, filepath.Join(root, name))
			}
		}
	}
	return list
}
