package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// notesAfterInstall returns what you should know about an agent once hooks are in place.
func (h *Host) notesAfterInstall(a *agent.Agent, path string, commands []hookentry.Command, o Options) []string {
	var out []string
	spec := a.Install
	folder := o.Scope == Project && spec.Trust.Project == "folder" || o.Scope == User && spec.Trust.Step == "folder"
	if _, everywhere := h.trustOf(a).asksNowhere(); folder && !everywhere && spec.Trust.Say != "" {
		out = append(out, spec.Trust.Say)
	}
	if spec.Permit != "" {
		out = append(out, spec.Permit)
	}
	for _, e := range a.Events {
		if e.Kind == event.ToolBefore && e.Install == agent.InstallOptional && len(o.Events) == 0 {
			out = append(out, fmt.Sprintf("%s is left out, so calls cannot be stopped there: %s; to have it all the "+
				"same, name it in --events", e.Name, e.Why))
		}
	}
	if o.Scope == Project {
		out = append(out, fmt.Sprintf("%s: names a program in your home; keep it out of the repository if others "+
			"work with it", paths.Shorten(h.Dirs.Home, path)))
	}
	for _, other := range o.Known {
		if other.Install == nil {
			continue
		}
		if slices.Contains(spec.Reads, other.Name) &&
			(slices.Contains(o.Agents, other) && readsHooksOf(a, o.Scope) ||
				h.hasWhere(other, func(s Site) bool { return readsHooksOf(a, s.Scope) })) {
			out = append(out, fmt.Sprintf("%s runs the hooks it finds in %s's files as well; hookmux answers such a "+
				"call once", a.Title, other.Title))
		}
		if slices.Contains(other.Install.Reads, a.Name) && readsHooksOf(other, o.Scope) &&
			!slices.Contains(o.Agents, other) && h.programOf(other) != "" {
			out = append(out, fmt.Sprintf("%s runs the hooks it finds here as well; hookmux knows it by its ways",
				other.Title))
		}
	}
	if o.Deny {
		out = append(out, hookentry.ClosingNote(a, h.installSpec(a, true), commands))
	}
	if spec.Handler.Strict && h.AgentVersion != nil {
		if v := h.AgentVersion(a); a.OlderThanTried(v) {
			out = append(out, fmt.Sprintf("%s %s is older than the version hookmux was tried with (%s), and passes "+
				"over all hooks when it does not know one; start it once and see `hookmux doctor %s`", a.Title, v,
				a.Tried, a.Name))
		}
	}
	return out
}

// pickupNote says when what is open now sees the change, and what is; nothing when
// nothing is.
func (h *Host) pickupNote(a *agent.Agent) string {
	say := a.Install.Pickup.Say
	if h.Open == nil {
		return say
	}
	pids := h.Open(a)
	var words []string
	for _, pid := range pids[:min(len(pids), 8)] {
		words = append(words, strconv.Itoa(pid))
	}
	if len(pids) > len(words) {
		words = append(words, "…")
	}
	switch len(pids) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 is open now (pid %s): %s", words[0], say)
	}
	return fmt.Sprintf("%d are open now (pid %s): %s", len(pids), strings.Join(words, ", "), say)
}

// readsHooksOf reports whether an agent that runs others' hooks does so for the files
// of a scope.
func readsHooksOf(a *agent.Agent, scope string) bool {
	return a.Install.ReadsScope == "" || a.Install.ReadsScope == scope
}

// hasWhere reports whether one of an agent's places for which is returns true has hooks of
// ours.
func (h *Host) hasWhere(a *agent.Agent, is func(Site) bool) bool {
	return slices.ContainsFunc(h.ReadSites(a), func(s Site) bool { return s.Ours > 0 && !s.Shadowed && is(s) })
}

// Found is an agent that is on this machine.
type Found struct {
	Agent   *agent.Agent
	Program string // on PATH
	Dir     string // its config
}

// Find lists the agents on this machine into which hookmux can be written: by
// their program or by their config.
func (h *Host) Find(all []*agent.Agent) []Found {
	var out []Found
	for _, a := range all {
		if a.Install == nil {
			continue
		}
		f := Found{Agent: a}
		f.Program, f.Dir = h.ProgramAndConfigDir(a)
		if f.Program != "" || f.Dir != "" {
			out = append(out, f)
		}
	}
	return out
}

// ProgramAndConfigDir returns the agent's program on PATH and the folder of its config, as
// far as they are there.
func (h *Host) ProgramAndConfigDir(a *agent.Agent) (program, dir string) {
	if dir = h.configDir(a); dir != "" && (!h.onDisk().exists(dir) || h.onDisk().isFile(dir)) {
		dir = ""
	}
	return h.programOf(a), dir
}

// programOf returns the agent's program on PATH.
func (h *Host) programOf(a *agent.Agent) string {
	names := slices.Clone(a.Marks.Programs)
	if a.Launch.Program != "" {
		names = append([]string{a.Launch.Program}, names...)
	}
	for _, name := range names {
		for _, dir := range filepath.SplitList(h.Getenv("PATH")) {
			if file := filepath.Join(dir, name); filepath.IsAbs(dir) && h.onDisk().runnable(file) {
				return file
			}
		}
	}
	return ""
}

// configDir returns the folder an agent keeps its config in: the first one of its place below
// the home, or what replaces it.
func (h *Host) configDir(a *agent.Agent) string {
	files := a.Files
	if a.Install != nil && a.Install.Home != "" {
		return h.resolvePath(agent.HookFile{Path: a.Install.Home + "/.", Scope: User})
	}
	if a.Install != nil {
		files = nil
		for _, p := range a.Install.Places {
			files = append(files, p.HookFile)
		}
	}
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Path, "~/")
		if f.Scope != User || !ok {
			continue
		}
		steps := strings.Split(rest, "/")
		n := 1 // the agent's own folder
		if steps[0] == ".config" {
			n = 2
		}
		f.Path = "~/" + strings.Join(steps[:min(n, len(steps)-1)], "/") + "/."
		if f.EnvDir != "" {
			f.Path = f.EnvDir + "/."
		}
		return h.resolvePath(f)
	}
	return ""
}
