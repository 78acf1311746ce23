package packstore

import (
	"encoding/json"
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
		if old := byID[r.ID]; old == nil || !sameRule(old, r) {
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

// sameRule reports whether two rules say the same, wherever they stand.
func sameRule(a, b *rules.Rule) bool {
	x, y := *a, *b
	x.File, x.Line, x.Column, y.File, y.Line, y.Column = "", 0, 0, "", 0, 0
	first, err1 := json.Marshal(&x)
	second, err2 := json.Marshal(&y)
	return err1 == nil && err2 == nil && string(first) == string(second)
}
