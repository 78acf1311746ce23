package ruleset

import (
	"fmt"
	"testing"

	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// Rules that refuse count at once however often a file was saved meanwhile, and none
// that counted is lost.
func TestRulesAddedOneByOneAllCount(t *testing.T) {
	rule := func(id int, why string) string {
		return fmt.Sprintf("  - {id: r%d, why: %s, match: {program: p%d}, decide: deny, examples: {hit: [p%d x]}}\n", id, why,
			id, id)
	}
	trusted, file := []byte("version: 1\nrules: []\n"), "version: 1\nrules:\n"
	tighten := strengthen("a.yaml")
	save := func(text string) { trusted = tighten(trusted, []byte(text), accepted.State("")) }
	const many = 3 * maxAdded
	for i := range many {
		file += rule(i, "w")
		save(file)
		save(file) // nothing new
	}
	if got := addedRules("a.yaml", trusted); len(got) != many {
		t.Errorf("%d rules count of %d that were added one by one, want all", len(got), many)
	}
	if _, parts := addedTexts(trusted); len(parts) != 1 {
		t.Errorf("%d texts are kept, want one that has all", len(parts))
	}
	// One that was changed since counts as it was, beside what is new.
	save("version: 1\nrules:\n" + rule(0, "weaker") + rule(many, "w"))
	got := addedRules("a.yaml", trusted)
	if len(got) != many+1 || got[0].Why != "w" {
		t.Errorf("%d rules, the first because of %q; want %d and the first as it was", len(got), got[0].Why, many+1)
	}
}
