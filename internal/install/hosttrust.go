package install

import (
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// agentTrust describes how an agent keeps its own trust: single hooks by their hash, or
// whole folders.
type agentTrust struct {
	host  *Host
	agent *agent.Agent
}

func (h *Host) trustOf(a *agent.Agent) agentTrust { return agentTrust{h, a} }

// byHash reports whether an agent wants each hook trusted.
func byHash(a *agent.Agent) bool { return a.Install != nil && a.Install.Trust.Step == "hash" }

// file returns where trust is kept: the agent's own config, in TOML.
func (t agentTrust) file() string {
	for _, f := range t.agent.Files {
		if f.Scope == User && f.Format == "toml" {
			return t.host.resolvePath(f)
		}
	}
	return ""
}

// sourceName returns how the agent names a file: a folder that a variable names is
// looked up first, the default one is taken as it is.
func (t agentTrust) sourceName(path string, place agent.InstallPlace) string {
	if place.Env == "" || t.host.Getenv == nil || t.host.Getenv(place.Env) == "" {
		return path
	}
	return filepath.Join(t.host.onDisk().realPath(filepath.Dir(path)), filepath.Base(path))
}

// deadKeys are trust entries for hooks that are not there any more, or whose
// file is not: a project that was deleted.
func (t agentTrust) deadKeys() []string {
	h, a := t.host, t.agent
	state, err := h.onDisk().read(t.file())
	if !byHash(a) || err != nil || state == nil {
		return nil
	}
	r, err := edit.TOML.Parse(state)
	if err != nil {
		return nil
	}
	alive := map[string]bool{}
	sources := map[string]bool{}
	for _, p := range a.Install.Places {
		path := h.resolvePath(p.HookFile)
		src, err := h.onDisk().read(path)
		if err != nil || p.Scope != User {
			continue
		}
		source := t.sourceName(path, p)
		sources[source] = true
		target, err := h.target(path, p, a.Install)
		if err != nil || src == nil {
			continue
		}
		doc, err := target.ParseText(src)
		if err != nil {
			delete(sources, source)
			continue
		}
		for _, sl := range target.Handlers(doc) {
			alive[target.TrustKey(sl, source)] = true
		}
	}
	var dead []string
	for _, key := range r.Keys(strings.Split(hookentry.CodexTrustTable, ".")...) {
		if t.fileGone(key) {
			dead = append(dead, key)
			continue
		}
		for source := range sources {
			if len(key) > len(source) && key[:len(source)+1] == source+":" && !alive[key] {
				dead = append(dead, key)
			}
		}
	}
	sort.Strings(dead)
	return dead
}

// fileGone reports whether a trust key names a hooks file that is not there: in a
// folder of the agent's own kind, or one whose folder is gone as well, as the
// temporary ones that other programs start the agent with.
func (t agentTrust) fileGone(key string) bool {
	file := key
	for range 3 { // event, group, handler
		at := strings.LastIndexByte(file, ':')
		if at < 0 {
			return false
		}
		file = file[:at]
	}
	if !filepath.IsAbs(file) || t.host.onDisk().exists(file) {
		return false
	}
	name, folder := filepath.Base(file), filepath.Base(filepath.Dir(file))
	return slices.ContainsFunc(t.agent.Install.Places, func(p agent.InstallPlace) bool {
		return filepath.Base(p.Path) == name &&
			(filepath.Base(filepath.Dir(p.Path)) == folder || !t.host.onDisk().exists(filepath.Dir(file)))
	})
}
