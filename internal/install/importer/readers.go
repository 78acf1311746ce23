package importer

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// The scopes of a settings file, as the catalogue calls them.
const (
	scopeUser    = "user"
	scopeProject = "project"
)

// readingAgents returns the agents that run the hooks of one of Claude Code's files by
// themselves, so that an imported hook must pass them by: it would run twice.
//
// Install.Reads says that an agent reads Claude's files. An agent that reads
// only some lists those among its own files; then nothing else is taken to be
// read.
func readingAgents(agents []*agent.Agent, scope, file string) []string {
	source, ok := agent.Builtin().OfHookFormat(string(hook.Claude))
	if !ok {
		return nil
	}
	list := []string{source.Name}
	for _, a := range agents {
		if a.Name == source.Name || a.Install == nil || !slices.Contains(a.Install.Reads, source.Name) {
			continue
		}
		listed, this := false, false
		for _, f := range a.Files {
			if path.Base(path.Dir(f.Path)) != path.Base(path.Dir(source.Files[0].Path)) {
				continue
			}
			listed = true
			ok, _ := path.Match(path.Base(f.Path), filepath.Base(file))
			this = this || ok && f.Scope == scope
		}
		if !listed || this {
			list = append(list, a.Name)
		}
	}
	slices.Sort(list[1:])
	return list
}

// scopeOf distinguishes the user's own settings from a project's by their location.
func scopeOf(file string) string {
	source, ok := agent.Builtin().OfHookFormat(string(hook.Claude))
	home, _ := os.UserHomeDir() // "" if unknown
	if !ok {
		return scopeProject
	}
	own := source.Files[0].Resolve(home, "", os.Getenv)
	if own != "" && sameFolder(filepath.Dir(file), filepath.Dir(own)) {
		return scopeUser
	}
	return scopeProject
}

func sameFolder(a, b string) bool {
	return filepath.Clean(a) == filepath.Clean(b) || paths.SameFile(a, b)
}

// joinAgents joins two lists of agents, the first one's order first.
func joinAgents(a, b []string) []string {
	joined := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(joined, name) {
			joined = append(joined, name)
		}
	}
	return joined
}

func agentNames(list []string) string { return strings.Join(list, ", ") }
