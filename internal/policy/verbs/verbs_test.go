package verbs

import (
	"slices"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	all := All()
	if !slices.IsSortedFunc(all, func(a, b Verb) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("the table is not in alphabetical order")
	}
	seen := map[string]bool{}
	for _, v := range all {
		if seen[v.Path] {
			t.Errorf("%s is in the table twice", v.Path)
		}
		seen[v.Path] = true
		if v.Summary == "" || strings.HasSuffix(v.Summary, ".") {
			t.Errorf("%s: summary %q is empty or ends with a period", v.Path, v.Summary)
		}
		switch v.Effect {
		case Read, Use, Decide, Weaken:
		default:
			t.Errorf("%s: unknown effect %q, want one of the four", v.Path, v.Effect)
		}
		if parent, _, ok := strings.Cut(v.Path, " "); ok && !seen[parent] {
			t.Errorf("%s: its first word has no row", v.Path)
		}
		if v.ForUser() != (v.Effect == Decide || v.Effect == Weaken) {
			t.Errorf("%s: effect %s, for a person: %v", v.Path, v.Effect, v.ForUser())
		}
	}
	all[0].Path = "changed"
	if All()[0].Path == "changed" {
		t.Error("All hands out the table itself")
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		operands, want string
	}{
		{"approve 12", "approve"},
		{"guard off destructive", "guard off"},
		{"guard", "guard"},
		{"guard nonsense", "guard"},
		{"daemon", "daemon"},
		{"daemon stop", "daemon stop"},
		{"hooks claude add tool.before", "hooks add"},
		{"hooks import claude", "hooks import"},
		{"hooks claude list", "hooks list"},
		{"hooks * discover add", "hooks discover"},
		{"hooks claude handle add", "hooks handle"},
		{"5 approve 1", "approve"},
		{"run claude approve", "run"},
		{"show off", "show"},
		{"feed push", "feed push"},
		{"feed x push", "feed"},
		{"nonsense", ""},
		{"", ""},
	} {
		got, ok := Own().Find(strings.Fields(tt.operands))
		if got.Path != tt.want || ok != (tt.want != "") {
			t.Errorf("Find(%q) = %q, %v; want %q", tt.operands, got.Path, ok, tt.want)
		}
	}
}
