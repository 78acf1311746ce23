package ruleset

import (
	"slices"
	"testing"
)

func TestOnlyNewRulesThatAllowAreWeaker(t *testing.T) {
	rule := func(id, decide, mode string) string {
		return "  - id: " + id + "\n    why: because\n    match: {program: make}\n    decide: " + decide + "\n    mode: " + mode +
			"\n    examples: {hit: [make x], miss: [ls]}\n"
	}
	text := "version: 1\nrules:\n" + rule("d", "deny", "log") + rule("q", "ask", "log") + rule("w", "warn", "block") + rule("a", "allow", "block")
	want := []string{"rule a is added, and may let calls pass"}
	if got := Weaker("x.yaml", nil, []byte(text)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
