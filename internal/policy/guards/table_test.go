package guards

import (
	"github.com/hookmux/hookmux/internal/policy/facts"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority/attempts"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
)

// Every command of the table of attempts is refused by the rule that the table
// names. Guards read commands; none of them is run.
func TestTableOfAttempts(t *testing.T) {
	own := Options{Machine: facts.Machine{
		OwnPaths: []string{"/home/dev/.config/hookmux", "/home/dev/.local/state/hookmux"}}}
	rows := 0
	for _, row := range attempts.Of(attempts.Guarded, attempts.Facts) {
		if row.Guard == "" {
			continue
		}
		rows++
		name, _, _ := strings.Cut(row.Guard, ".")
		if !names.Is(name) {
			t.Errorf("%s: there is no guard %q", row.Name, name)
			continue
		}
		g := NewGuard(name, own)
		checkRule(t, g, devCall(Call{ToolKind: "shell", ToolName: "Bash", Commands: []string{row.Command}}), row.Guard)
	}
	if rows < 20 {
		t.Errorf("%d rows were tried: the list only grows", rows)
	}
}
