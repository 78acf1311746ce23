package packstore

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/rules"
)

// Change is how one rule differs between two versions of a pack.
type Change struct {
	ID     string      `json:"id"`
	Before *rules.Rule `json:"before,omitempty"` // nil: the rule is new
	After  *rules.Rule `json:"after,omitempty"`  // nil: the rule is gone
}

// Changes lists the rules that two versions of a pack do not share.
func Changes(before, after []*rules.Rule) []Change {
	var list []Change
	byID := map[string]*rules.Rule{}
	for _, r := range before {
		byID[r.ID] = r
	}
	for _, r := range after {
		if old := byID[r.ID]; old == nil || !old.SameAs(r) {
			list = append(list, Change{r.ID, old, r})
		}
		delete(byID, r.ID)
	}
	for id, r := range byID {
		list = append(list, Change{ID: id, Before: r})
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.ID, b.ID) })
	return list
}
