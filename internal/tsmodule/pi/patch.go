package pi

import "strings"

// section is what a patch in apply_patch form does to one file.
type section struct {
	path     string
	verb     string // Add, Update, Delete
	from, to []string
}

var patchKeys = []string{"command", "input", "patch", "patchText"}

// patchSection finds what the patch inside an input does to a path.
func patchSection(native Object, path string) (section, bool) {
	for _, key := range patchKeys {
		text, ok := native[key].(string)
		if !ok || !strings.Contains(text, "*** Begin Patch") {
			continue
		}
		for _, s := range patchSections(text) {
			if s.path == path {
				return s, true
			}
		}
		return section{path: path, verb: "Update"}, true
	}
	return section{}, false
}

// patchSections reads a patch. It is for showing: whatever cannot be read is left
// out, and a path the agent's dialect found stays a path to ask about.
func patchSections(text string) []section {
	var list []section
	for line := range strings.SplitSeq(text, "\n") {
		if head, ok := strings.CutPrefix(strings.TrimSpace(line), "*** "); ok {
			verb, path, found := strings.Cut(head, " File: ")
			if found {
				list = append(list, section{path: strings.TrimSpace(path), verb: verb})
			} else if to, ok := strings.CutPrefix(head, "Move to: "); ok && len(list) > 0 {
				moved := list[len(list)-1]
				moved.path = strings.TrimSpace(to)
				list = append(list, moved)
			}
			continue
		}
		if len(list) == 0 || line == "" || strings.HasPrefix(line, "@@") {
			continue
		}
		s := &list[len(list)-1]
		switch line[0] {
		case '+':
			s.to = append(s.to, line[1:])
		case '-':
			s.from = append(s.from, line[1:])
		case ' ':
			s.from, s.to = append(s.from, line[1:]), append(s.to, line[1:])
		}
	}
	return list
}

// showPatch shows what a patch does to one file as pi's own tools would do it.
// It cannot be changed piece by piece.
func (c *Call) showPatch(s section) {
	c.places["path"] = nil
	c.Shown["path"] = s.path
	if s.verb == "Add" {
		c.Name = "write"
		c.Shown["content"] = strings.Join(s.to, "\n") + "\n"
		c.places["content"] = nil
		return
	}
	c.Name = "edit"
	c.Shown["oldText"], c.Shown["newText"] = strings.Join(s.from, "\n"), strings.Join(s.to, "\n")
	c.Shown["edits"] = []any{Object{"oldText": c.Shown["oldText"], "newText": c.Shown["newText"]}}
	c.places["oldText"], c.places["newText"], c.places["edits"] = nil, nil, nil
	if s.verb == "Delete" {
		c.Shown["delete"] = true
		c.places["delete"] = nil
	}
}
