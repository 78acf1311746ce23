package main

import (
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/verify/agents"
)

// Every pin can be found in the table and in a package, so that raising it
// changes exactly that.
func TestEveryPinCanBeRaised(t *testing.T) {
	b, err := os.ReadFile("../../verify/agents/table.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range agents.Names() {
		a, _ := agents.Find(name)
		text, err := repin(string(b), name, "Version", a.Version, "99.0.0")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Count(text, `"99.0.0"`) != 1 || len(text)-len(b) != len("99.0.0")-len(a.Version) {
			t.Errorf("%s: more than its version changed", name)
		}
		if a.Prints != "" {
			if _, err := repin(string(b), name, "Prints", a.Prints, "99.0.0"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if packageOf(a) == "" {
			t.Errorf("%s: no package carries its version", name)
		}
	}
	if _, err := repin(string(b), "nobody", "Version", "1", "2"); err == nil {
		t.Error("nobody has an entry?")
	}
}
