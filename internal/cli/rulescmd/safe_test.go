package rulescmd

import (
	"testing"

	"github.com/hookmux/hookmux/internal/policy/rules"
)

// The rules that need no question can be read, and their examples hold.
func TestSafeRules(t *testing.T) {
	list, problems := rules.Parse(rules.Source{Name: "safe.yaml", Data: []byte(safeRules), Layer: rules.User})
	for _, p := range problems {
		t.Errorf("problem %s, want none", p)
	}
	for _, r := range list {
		if r.Decide != rules.Allow {
			t.Errorf("%s decides %s, want allow", r.ID, r.Decide)
		}
	}
	if len(list) == 0 {
		t.Error("no rule, want some")
	}
}
