package ruleset

import (
	"slices"

	"github.com/hookmux/hookmux/internal/policy/rules"
)

// Weaker says, a line each, which rules a user's file no longer has, has changed, or has in
// addition so that calls pass.
func Weaker(name string, before, after []byte) (list []string) {
	// What cannot be read is said elsewhere.
	was, _ := rules.Parse(rules.Source{Name: name, Data: before, Layer: rules.User})
	is, _ := rules.Parse(rules.Source{Name: name, Data: after, Layer: rules.User})
	find := func(in []*rules.Rule, id string) *rules.Rule {
		if at := slices.IndexFunc(in, func(r *rules.Rule) bool { return r.ID == id }); at >= 0 {
			return in[at]
		}
		return nil
	}
	for _, one := range was {
		switch now := find(is, one.ID); {
		case now == nil:
			list = append(list, "rule "+one.ID+" is removed")
		case !now.SameAs(one):
			list = append(list, "rule "+one.ID+" is changed")
		}
	}
	for _, one := range is {
		if find(was, one.ID) == nil && one.MayAllow() {
			list = append(list, "rule "+one.ID+" is added, and may let calls pass")
		}
	}
	return list
}
