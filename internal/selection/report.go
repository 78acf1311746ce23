package selection

import (
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/wire"
)

// reportProblems reports what is wrong with settings, registrations and trust, and clears
// what is fixed. Problems of a project are kept under its folder, so that an event
// elsewhere doesn't make them look fixed.
func (r *Service) reportProblems(settings [2]*config.Settings, sets [2]*registry.Set,
	trusted [2]*trust.TrustedContent, at places) {
	stay := map[string]bool{}
	prefix := "place:" + at.here + ":" + at.start + ":"
	say := func(list []userfile.Problem) {
		for _, p := range list {
			if at != (places{}) && !at.has(p.File) {
				continue // your own files: said once, for every place
			}
			key := prefix + p.String()
			stay[key] = true
			r.Problems.Set(key, p.String(), "")
		}
	}
	for _, s := range settings {
		if s != nil {
			say(s.Problems())
		}
	}
	say(ruleProblems(r, trusted, at == places{}))
	for i, root := range []string{at.here, at.start} {
		if sets[i] != nil {
			say(sets[i].Problems)
		}
		if root == "" {
			continue
		}
		if text, first := r.Trust.Notice(root); first {
			r.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: "trust", Text: text})
		}
		if f := r.Trust.InForce(root); f.Problem != "" {
			key := prefix + "trust:" + root
			stay[key] = true
			r.Problems.Raise(key, f.Problem, "")
		}
	}
	r.Problems.ClearExcept(prefix, stay)
	r.mu.Lock()
	if len(stay) > 0 {
		r.troubled[at] = true
	} else {
		delete(r.troubled, at)
	}
	r.mu.Unlock()
}

// has reports whether a file belongs to one of the projects.
func (at places) has(file string) bool {
	below := func(root string) bool { return root != "" && strings.HasPrefix(file, root+string(filepath.Separator)) }
	return below(at.here) || below(at.start)
}
