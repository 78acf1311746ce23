package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// This file finds hooks that something other than hookmux removed: the record of the
// installation has them, and the agent's files don't.

// Removal describes the hooks missing from one of an agent's files.
type Removal struct {
	Agent, Path string
	Project     string   // the folder, for hooks of a project
	Events      []string // those whose hook is gone; nil: all
	Err         error    // the file can't be read, so the agent can't read it either
}

// What describes what is missing.
func (r *Removal) What(home string) string {
	short := paths.Shorten(home, r.Path)
	switch {
	case r.Err != nil:
		return fmt.Sprintf("%s can't be read, so hookmux can't tell whether its hooks run: %v", short, r.Err)
	case r.Events == nil:
		return short + ": hookmux's hooks are gone, and hookmux didn't remove them"
	}
	return fmt.Sprintf("%s: %s is gone", short, strings.Join(r.Events, ", "))
}

// Fix names the command that puts the hooks back, and the one that leaves them out for good.
func (r *Removal) Fix(home string) string {
	if r.Err != nil {
		return "correct the file, then run `hookmux doctor " + r.Agent + "`"
	}
	back, where := "hookmux install "+r.Agent, ""
	if r.Project != "" {
		back, where = back+" --project", "in "+paths.Shorten(home, r.Project)+": "
	}
	return where + "`" + back + "` puts them back; `hookmux uninstall " + r.Agent + "` leaves them out for good"
}

// Removed lists the hooks that hookmux installed for an agent on this machine and that
// are gone.
func (h *Host) Removed(a *agent.Agent) []Removal {
	m, err := h.load()
	if err != nil || a.Install == nil || !hasRecord(m, a) {
		return nil // a doctor says what is wrong with the record
	}
	return h.removedFrom(a, m, h.ReadSites(a))
}

func (h *Host) removedFrom(a *agent.Agent, m *Manifest, sites []Site) (out []Removal) {
	read := map[string][]Site{h.Project: sites}
	for _, path := range m.paths() {
		r := m.Files[path]
		if r.Agent != a.Name || !r.holdsHooks() || !h.isHere(a, r) {
			continue
		}
		at := h.Project
		if r.Scope == Project && r.Project != "" {
			at = r.Project
		}
		if _, ok := read[at]; !ok {
			there := *h
			there.Project = at
			read[at] = there.ReadSites(a)
		}
		one, gone := h.removal(path, r, read[at])
		if gone && !slices.ContainsFunc(out, func(o Removal) bool { return o.Path == one.Path }) {
			out = append(out, one)
		}
	}
	return out
}

// holdsHooks reports whether hooks were written into the file.
func (r *Record) holdsHooks() bool {
	return r.Chosen != nil && (r.Kind == KindEntries || r.Kind == KindPlugin || r.Kind == KindScript)
}

// isHere reports whether the agent or project of a record is still on this machine. When
// it was deleted, our hooks went with it.
func (h *Host) isHere(a *agent.Agent, r *Record) bool {
	if r.Scope == Project {
		return r.Project == "" || h.onDisk().exists(r.Project)
	}
	program, dir := h.ProgramAndConfigDir(a)
	return program != "" || dir != ""
}

// removal compares one recorded file with the files that its agent reads now.
func (h *Host) removal(path string, r *Record, sites []Site) (Removal, bool) {
	one := Removal{Agent: r.Agent, Path: path, Project: r.Project}
	for _, s := range sites {
		if s.Path != path && (r.Kind != KindScript || s.Path != filepath.Dir(path)) {
			continue
		}
		one.Path, one.Err = s.Path, s.Err
		if s.Err == nil && s.Ours > 0 {
			one.Events = s.Missing
			return one, len(s.Missing) > 0
		}
		return one, true
	}
	return one, !h.fileMentions(path) // in this environment, the agent doesn't read this file any more
}

// RemovalWatch checks repeatedly which hooks were removed. It is for one goroutine.
type RemovalWatch struct {
	Host   *Host
	Agents []*agent.Agent

	files []string // read by the last look
	state string   // their state at that time
	found []Removal
}

// Look lists the hooks that are missing now. It reads the files only if one of them
// changed or something was missing at the last look.
func (w *RemovalWatch) Look() []Removal {
	if len(w.found) == 0 && w.state != "" && w.state == stateOf(w.files) {
		return nil
	}
	w.files, w.found = []string{manifestPath(w.Host.Dirs)}, nil
	if m, err := w.Host.load(); err == nil {
		w.files = append(w.files, m.paths()...)
	}
	w.state = stateOf(w.files) // before they are read: what changes meanwhile is read again
	for _, a := range w.Agents {
		w.found = append(w.found, w.Host.Removed(a)...)
	}
	return w.found
}

// stateOf returns a string that changes when one of the files does.
func stateOf(files []string) string {
	var b strings.Builder
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprint(&b, info.ModTime().UnixNano(), " ", info.Size(), " ", info.Mode())
		}
		b.WriteByte('\n')
	}
	return b.String()
}
