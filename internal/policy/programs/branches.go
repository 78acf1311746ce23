package programs

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// IsProtectedBranch reports whether a ref is a branch that must not be rewritten or
// deleted.
func IsProtectedBranch(ref string) bool {
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "heads/")
	return slices.ContainsFunc(builtin().Branches.Protected, func(pattern string) bool {
		ok, _ := path.Match(pattern, ref)
		before, open := strings.CutSuffix(pattern, "*")
		return ok || open && strings.HasPrefix(ref, before)
	})
}

// branchNames are the placeholders for branches in the text of a pack.
var branchNames = sync.OnceValue(func() *strings.Replacer {
	b := &builtin().Branches
	either := func(list []string) string { return strings.ReplaceAll(strings.Join(list, "|"), "*", ".*") }
	var pushed []string
	for _, name := range b.Shared {
		for _, before := range []string{"", "*:", "refs/heads/", "*:refs/heads/"} {
			pushed = append(pushed, "'"+before+name+"'")
		}
	}
	return strings.NewReplacer("{main-branches}", strings.Join(b.Main, ", "), "{main-branch}", either(b.Main),
		"{shared-branches}", strings.Join(pushed, ", "), "{protected-branch}", either(b.Protected))
})

// ExpandBranches inserts the names of branches into the text of a pack: lists for {main-branches}
// and {shared-branches}, expressions for {main-branch} and {protected-branch}.
func ExpandBranches(text []byte) []byte { return []byte(branchNames().Replace(string(text))) }
