package pi

import (
	"strings"

	"github.com/hookmux/hookmux/internal/toolnames"
)

// showPatch shows what a patch does to one file as pi's own tools would do it.
// It cannot be changed piece by piece.
func (c *Call) showPatch(s toolnames.PatchSection) {
	c.places["path"] = nil
	c.Shown["path"] = s.Path
	if s.Verb == "Add" {
		c.Name = "write"
		c.Shown["content"] = strings.Join(s.To, "\n") + "\n"
		c.places["content"] = nil
		return
	}
	c.Name = "edit"
	c.Shown["oldText"], c.Shown["newText"] = strings.Join(s.From, "\n"), strings.Join(s.To, "\n")
	c.Shown["edits"] = []any{Object{"oldText": c.Shown["oldText"], "newText": c.Shown["newText"]}}
	c.places["oldText"], c.places["newText"], c.places["edits"] = nil, nil, nil
	if s.Verb == "Delete" {
		c.Shown["delete"] = true
		c.places["delete"] = nil
	}
}
