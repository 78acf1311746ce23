package agent

import (
	"path/filepath"
	"slices"
	"strings"
)

// Resolve returns the file's real path for a home and a project directory; env
// looks variables up and may be nil. The name may still be a glob. It is empty
// when the directory it needs is not known.
func (f HookFile) Resolve(home, project string, env func(string) string) string {
	if rest, ok := strings.CutPrefix(f.Path, "~/"); ok {
		if f.Env != "" && env != nil {
			if dir := env(f.Env); dir != "" {
				if below, ok := f.belowEnv(rest); ok {
					return filepath.Join(dir, below)
				}
			}
		}
		if home == "" {
			return ""
		}
		return filepath.Join(home, rest)
	}
	if rest, ok := strings.CutPrefix(f.Path, "./"); ok {
		if project == "" {
			return ""
		}
		return filepath.Join(project, rest)
	}
	return f.Path
}

// belowEnv returns the part of a "~/" path that is below the directory in the variable.
func (f HookFile) belowEnv(rest string) (string, bool) {
	if f.EnvDir != "" {
		return strings.CutPrefix("~/"+rest, f.EnvDir+"/")
	}
	_, below, ok := strings.Cut(rest, "/")
	return below, ok
}

// ByProgram finds the agent whose process this is, by the base name of its
// executable and the paths of executable and script.
func (c *Catalogue) ByProgram(base string, paths ...string) (*Agent, bool) {
	for _, a := range c.agents {
		if a.Marks.MatchProgram(base, paths...) {
			return a, true
		}
	}
	return nil, false
}

// MatchProgram reports whether a process looks like the agent itself.
func (m *Marks) MatchProgram(base string, paths ...string) bool {
	return base != "" && slices.Contains(m.Programs, base) || slices.ContainsFunc(paths, func(path string) bool {
		return slices.ContainsFunc(m.Paths, func(fragment string) bool { return strings.Contains(path, fragment) })
	})
}

// MatchEnvironment reports whether a process carries one of the variables that
// only processes below the agent have, and which.
func (m *Marks) MatchEnvironment(env func(string) string) (string, bool) {
	for _, mark := range m.Environment {
		name, value, exact := strings.Cut(mark, "=")
		if got := env(name); got != "" && (!exact || got == value) {
			return name, true
		}
	}
	return "", false
}

// BelowAgent finds the first agent whose variables a process carries.
func (c *Catalogue) BelowAgent(env func(string) string) (*Agent, string, bool) {
	var below *Agent
	var mark string
	for _, a := range c.agents {
		name, ok := a.Marks.MatchEnvironment(env)
		if ok && (below == nil || slices.Contains(a.Marks.AlsoCarries, below.Name)) {
			below, mark = a, name
		}
	}
	return below, mark, below != nil
}
