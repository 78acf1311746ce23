// Package importer turns hooks that were written for other programs into registrations:
// those of agent-mux, and those in Claude Code's settings, which then run on every agent that
// doesn't read them itself.
//
// Importing only reads and makes no other decision: the caller stores the result or shows it.
// Nothing is dropped silently; what can't be imported is named with its reason. Ids of
// Claude's hooks are derived from their content, so that importing again updates instead of
// duplicating.
package importer

import (
	"fmt"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// maxFile is the largest file that is imported from.
const maxFile = 4 << 20

// Hook is one imported registration.
type Hook struct {
	hook.Registration
	From string // the file it came from
}

// Note is something the user should know about one hook.
type Note struct {
	File    string
	Line    int
	Text    string
	Skipped bool // the hook was not imported
}

func (n Note) String() string {
	what := "imported"
	if n.Skipped {
		what = "skipped"
	}
	if n.Line > 0 {
		return fmt.Sprintf("%s:%d: %s: %s", n.File, n.Line, what, n.Text)
	}
	return fmt.Sprintf("%s: %s: %s", n.File, what, n.Text)
}

// Result is the result of an import.
type Result struct {
	Hooks []Hook
	Notes []Note

	complete bool            // the files were there, and all of them were used
	seen     map[string]bool // ids that were created, also of hooks that were then skipped
}

// Check returns what is wrong with a registration; nil if nothing is.
type Check func(*hook.Registration) error

// addHook adds a hook, unless it doesn't pass the check. A hook with the same id is replaced:
// the later one wins, as in the files.
func (r *Result) addHook(h Hook, check Check, skip func(format string, args ...any)) {
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[h.ID] = true
	if check != nil {
		if err := check(&h.Registration); err != nil {
			skip("%s: %v", h.ID, err)
			return
		}
	}
	for i := range r.Hooks {
		if r.Hooks[i].ID == h.ID {
			if h.SkipAgents != nil { // run by an agent itself from one file is enough
				h.SkipAgents = joinAgents(h.SkipAgents, r.Hooks[i].SkipAgents)
			}
			r.Hooks[i] = h
			return
		}
	}
	r.Hooks = append(r.Hooks, h)
}

// openFile reads a file that may have comments.
func openFile(file string) (*edit.Document, error) {
	data, err := userfile.ReadFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	doc, err := edit.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; correct it first", file, err)
	}
	return doc, nil
}
