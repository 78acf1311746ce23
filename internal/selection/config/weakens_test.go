package config

import "testing"

// What a project may only tighten protects the user, as does what the daemon keeps under a
// seal: loosening it is asked for.
func TestLooseningIsAskedFor(t *testing.T) {
	for _, k := range Keys() {
		protects := k.Project == Rise || k.Project == Intersect || k.IsGuard() || Sealed(k.Name)
		if !protects {
			continue
		}
		if k.Weakens == nil {
			t.Errorf("%s protects, and no value of it is said to weaken; want Weakens in the table", k.Name)
			continue
		}
		if len(k.Choices) > 0 && !k.Weakens(k.Choices[0]) {
			t.Errorf("%s %s, the loosest, does not weaken; want that it does", k.Name, k.Choices[0])
		}
		if !k.Weakens("") {
			t.Errorf("%s back to its default does not weaken; want that it does, as it may have been tighter", k.Name)
		}
	}
}
