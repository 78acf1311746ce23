package install

import (
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/internal/edit"
)

// written are all paths that an installation may have been writing when it was
// killed.
func (h *Host) written() []string {
	out := []string{manifestPath(h.Dirs)}
	if m, err := h.load(); err == nil {
		out = append(out, m.paths()...)
	}
	for _, a := range h.Known {
		if a.Install == nil {
			continue
		}
		for _, p := range a.Install.Places {
			if path := h.resolve(p.HookFile); path != "" {
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

// unfinished are files that were begun and never put in place.
func (h *Host) unfinished() []string {
	var out []string
	seen := map[string]bool{}
	for _, path := range h.written() {
		for _, left := range edit.Unfinished(path) {
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

// sweep removes them. The caller holds the installer's lock; that of each
// folder keeps a writer who is not killed safe.
func (h *Host) sweep() {
	for _, path := range h.written() {
		edit.Sweep(path)
	}
	for _, at := range unfinishedLinks(Shim(h.Dirs)) {
		_ = os.Remove(at) // looked for again the next time
	}
}
