package install

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
)

// ForeignHook is a hook of another program that answers the events we answer, in one of the
// agent's files that holds none of ours.
type ForeignHook struct {
	Path string
	What string // line, event and command
}

// ForeignHooks finds other people's hooks in all files an agent takes hooks from here: the
// user's own, a project's, those kept out of its repository, and others in a folder that is
// read whole. The file but, which has been checked already, is left out.
func (h *Host) ForeignHooks(a *agent.Agent, but string) []ForeignHook {
	if a.Install == nil || a.Install.Way == agent.WayPlugin {
		return nil
	}
	if a.Install.Way == agent.WayScripts {
		return strangeScripts(h.ReadSites(a))
	}
	var out []ForeignHook
	seen := map[string]bool{h.onDisk().realPath(but): true}
	look := func(path string, p agent.InstallPlace) {
		if path == "" || seen[h.onDisk().realPath(path)] || hiddenBy(h.onDisk(), path, p) != "" {
			return
		}
		seen[h.onDisk().realPath(path)] = true
		src, err := h.onDisk().read(path)
		if err != nil || src == nil {
			return // reported where it matters
		}
		s := Site{Scope: p.Scope, Path: path}
		siteReader{h, a}.readFile(&s, p, src)
		if s.Err != nil || s.Ours > 0 {
			return
		}
		for _, what := range s.Foreign {
			out = append(out, ForeignHook{path, what})
		}
	}
	for _, p := range a.Install.Places {
		look(h.resolvePath(p.HookFile), p)
	}
	for _, f := range a.Files {
		// It is written as the agent's own place of its kind is.
		i := slices.IndexFunc(a.Install.Places, func(p agent.InstallPlace) bool {
			return p.Scope == f.Scope &&
				!p.WhenUsed
		})
		if f.GuardOnly || i < 0 {
			continue
		}
		p := a.Install.Places[i]
		format := p.Format
		if p.HookFile, p.Unless = f, nil; p.Format == "json" {
			p.Format = format // both accept comments alike
		}
		path := h.resolvePath(f)
		if !strings.Contains(f.Path, "*") {
			look(path, p)
			continue
		}
		for _, match := range h.onDisk().glob(path) {
			look(match, p)
		}
	}
	return out
}
