package toolnames

import (
	"slices"
	"strings"
)

// PatchSection describes the change to one file in a patch in apply_patch format.
type PatchSection struct {
	Path     string
	Verb     string   // Add, Update, Delete
	From, To []string // the lines before and after, with their context
}

// PatchKeys are where agents keep the text of a patch.
var PatchKeys = []string{"command", "input", "patch", "patchText"}

// FindPatch finds what the patch inside a tool's input does to a path. text returns the text under a
// key of the input. whole is false if the input holds a patch that doesn't name the path.
func FindPatch(text func(key string) (string, bool), path string) (section PatchSection, isPatch, whole bool) {
	for _, key := range PatchKeys {
		patch, ok := text(key)
		if !ok || !strings.Contains(patch, "*** Begin Patch") {
			continue
		}
		for _, s := range readPatch(patch) {
			if s.Path == path {
				return s, true, true
			}
		}
		return PatchSection{Path: path, Verb: "Update"}, true, false
	}
	return PatchSection{}, false, false
}

// OnlyAdds reports whether a patch makes new files and changes none.
func OnlyAdds(patch string) bool {
	list := readPatch(patch)
	return strings.Contains(patch, "*** Begin Patch") && len(list) > 0 &&
		!slices.ContainsFunc(list, func(s PatchSection) bool { return s.Verb != "Add" })
}

// readPatch reads the sections of a patch. Whatever cannot be read is left out.
func readPatch(text string) []PatchSection {
	var list []PatchSection
	for line := range strings.SplitSeq(text, "\n") {
		if head, ok := strings.CutPrefix(strings.TrimSpace(line), "*** "); ok {
			verb, path, found := strings.Cut(head, " File: ")
			if found {
				list = append(list, PatchSection{Path: strings.TrimSpace(path), Verb: verb})
			} else if to, ok := strings.CutPrefix(head, "Move to: "); ok && len(list) > 0 {
				moved := list[len(list)-1]
				moved.Path = strings.TrimSpace(to)
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
			s.To = append(s.To, line[1:])
		case '-':
			s.From = append(s.From, line[1:])
		case ' ':
			s.From, s.To = append(s.From, line[1:]), append(s.To, line[1:])
		}
	}
	return list
}
