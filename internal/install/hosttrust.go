package install

import (
	"path/filepath"

	"github.com/hookmux/hookmux/agent"
)

// byHash reports whether an agent wants each hook trusted.
func byHash(a *agent.Agent) bool { return a.Install != nil && a.Install.Trust.Step == "hash" }

// trustFile is where trust is kept: the agent's own config, in TOML.
func (h *Host) trustFile(a *agent.Agent) string {
	for _, f := range a.Files {
		if f.Scope == User && f.Format == "toml" {
			return h.resolvePath(f)
		}
	}
	return ""
}

// sourceName is how the agent names a file: a folder that a variable names is
// looked up first, the default one is taken as it is.
func (h *Host) sourceName(path string, place agent.InstallPlace) string {
	if place.Env == "" || h.Getenv == nil || h.Getenv(place.Env) == "" {
		return path
	}
	return filepath.Join(h.onDisk().realPath(filepath.Dir(path)), filepath.Base(path))
}
