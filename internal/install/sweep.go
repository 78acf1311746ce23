package install

import (
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// writtenPaths are all paths that an installation may have been writing when it was
// killed.
func (h *Host) writtenPaths() []string {
	out := []string{manifestPath(h.Dirs)}
	if m, err := h.load(); err == nil {
		out = append(out, m.paths()...)
	}
	for _, a := range h.Known {
		if a.Install == nil {
			continue
		}
		for _, p := range a.Install.Places {
			if path := h.resolvePath(p.HookFile); path != "" {
				out = append(out, path)
			}
		}
		if path := h.trustFile(a); byHash(a) && path != "" {
			out = append(out, path)
		}
	}
	return out
}

var newLink = lazyregexp.New(`^[0-9a-f]{16}\.new$`)

// unfinishedFiles are files that were begun and never put in place.
func (h *Host) unfinishedFiles() []string {
	var out []string
	seen := map[string]bool{}
	for _, path := range h.writtenPaths() {
		for _, left := range userfile.Unfinished(path) {
			if !seen[left] {
				seen[left] = true
				out = append(out, left)
			}
		}
	}
	return append(out, unfinishedLinks(Shim(h.Dirs))...)
}

func unfinishedLinks(at string) []string {
	var out []string
	matches, _ := filepath.Glob(escapeGlob(at) + ".*.new")
	for _, m := range matches {
		if newLink.MatchString(m[len(at)+1:]) {
			out = append(out, m)
		}
	}
	return out
}

// removeUnfinished removes them. The caller holds the installer's lock; that of each
// folder keeps a writer who is not killed safe.
func (h *Host) removeUnfinished() {
	for _, path := range h.writtenPaths() {
		userfile.Sweep(path)
	}
	for _, at := range unfinishedLinks(Shim(h.Dirs)) {
		_ = os.Remove(at) // looked for again the next time
	}
}
