package guard

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority/attempts"
)

// Every command of the table of attempts is refused by the rule that the table
// names. Guards read commands; none of them is run.
func TestTableOfAttempts(t *testing.T) {
	own := Options{OwnPaths: []string{"/home/dev/.config/hookmux", "/home/dev/.local/state/hookmux"}}
	guards := map[string]*Guard{
		Destructive: NewDestructive(Options{}), OwnFiles: NewOwnFiles(own), Secrets: NewSecrets(Options{}),
	}
	rows := 0
	for _, row := range attempts.Of(attempts.Guarded, attempts.Facts) {
		if row.Guard == "" {
			continue
		}
		rows++
		name, _, _ := strings.Cut(row.Guard, ".")
		g, ok := guards[name]
		if !ok {
			t.Errorf("%s: there is no guard %q", row.Name, name)
			continue
		}
		checkRule(t, g, devCall(Call{ToolKind: "shell", ToolName: "Bash", Commands: []string{row.Command}}), row.Guard)
	}
	if rows < 20 {
		t.Errorf("%d rows were tried: the list only grows", rows)
	}
}
