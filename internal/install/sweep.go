package install

import (
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// leftovers are files that a killed installation began and never put in place.
type leftovers struct{ host *Host }

// writtenPaths returns all paths that an installation may have been writing when it was
// killed.
func (l leftovers) writtenPaths() []string {
	h := l.host
	out := []string{manifestPath(h.Dirs)}
	if m, err := h.load(); err == nil {
		out = append(out, m.paths()...)
	}
	for _, a := range h.Known {
		if a.Install == nil {
			continue
		}
		for _, p := range a.Install.Places {
			path := h.resolvePath(p.HookFile)
			switch {
			case path == "":
			case a.Install.Way == agent.WayScripts:
				for _, e := range a.Events {
					out = append(out, ScriptPath(path, e.Name)) // the others are in the same folder
				}
			default:
				out = append(out, path)
			}
		}
		if a.Install != nil && a.Install.Consent != nil {
			if path := h.resolvePath(a.Install.Consent.HookFile); path != "" {
				out = append(out, path)
			}
		}
		if path := h.trustOf(a).file(); byHash(a) && path != "" {
			out = append(out, path)
		}
	}
	return out
}

var newLink = lazyregexp.New(`^[0-9a-f]{16}\.new$`)

// list names the files.
func (l leftovers) list() []string {
	var out []string
	seen := map[string]bool{}
	for _, path := range l.writtenPaths() {
		for _, left := range userfile.Unfinished(path) {
			if !seen[left] {
				seen[left] = true
				out = append(out, left)
			}
		}
	}
	return append(out, unfinishedLinks(Shim(l.host.Dirs))...)
}

func unfinishedLinks(at string) []string {
	var out []string
	matches, _ := filepath.Glob(paths.EscapeGlob(at) + ".*.new")
	for _, m := range matches {
		if newLink.MatchString(m[len(at)+1:]) {
			out = append(out, m)
		}
	}
	return out
}

// remove removes them. The caller holds the installer's lock; that of each folder
// keeps a writer who is not killed safe.
func (l leftovers) remove() {
	for _, path := range l.writtenPaths() {
		userfile.Sweep(path)
	}
	for _, at := range unfinishedLinks(Shim(l.host.Dirs)) {
		_ = os.Remove(at) // looked for again the next time
	}
}
