package install

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
)

// LongestPrefixRule returns what a list of folders says about one: the word of the rule with the
// longest path that the folder is in. False: none is about it.
func LongestPrefixRule(r edit.Reader, spec *agent.FolderTrust, folder string, realPath func(string) string) (string, bool) {
	longest, word := -1, ""
	for _, rule := range r.Keys() {
		var is string
		if json.Unmarshal(r.Raw(rule), &is) != nil {
			continue
		}
		at := rule
		if slices.Contains(spec.Parent, is) {
			at = filepath.Dir(rule)
		}
		if isWithin(realPath(at), folder) && len(rule) > longest {
			longest, word = len(rule), is
		}
	}
	return word, longest >= 0
}

// isWithin reports whether a folder is another one or below it.
func isWithin(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
