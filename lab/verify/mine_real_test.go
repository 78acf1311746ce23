//go:build unix

package verify

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/ownconfig/ownconfigtest"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Hooks that a person installed are proven as they are,
// trust included; without trust they prove to guard nothing.
func TestRealMineInstalled(t *testing.T) {
	path := onPath(t, "codex")
	for _, trust := range []bool{true, false} {
		p := ownconfigtest.NewPerson(t)
		p.WriteFile(".codex/config.toml", "# mine\nmodel = \"mine\"\n")
		p.InstallHookmux("codex", filepath.Join(builtBin(t), "hookmux-hook"), install.Options{Trust: trust})
		was := ownconfigtest.ReadTree(t, p.Home)
		r := runCLI(t, p.Home, p.Project, path, "codex", "--mine", "--check", "PreToolUse.deny", "--check",
			"daemon-absent", "--check", "neutral")
		ownconfigtest.CheckTree(t, p.Home, was)
		if notes := strings.Join(r.report.Agents[0].Notes, "\n"); !strings.Contains(notes, "are proven as they are") {
			t.Errorf(`strings.Join(r.report.Agents[0].UserNotes, "\n") = %q, want "are proven as they are" in it`, notes)
		}
		for _, row := range r.report.Agents[0].Checks {
			t.Logf("trusted %v: %s %s %s", trust, row.Mark, row.ID(), row.Why)
			switch {
			case trust && row.Mark != checks.Holds:
				t.Errorf("%s %s: %s, seen %q, hint %s; want it to hold", row.Mark, row.ID(), row.Why, row.Seen,
					row.Hint)
			case !trust && row.ID() == "PreToolUse.deny" &&
				(row.Mark != checks.Fails || !strings.Contains(row.Hint, "trust")):
				t.Errorf(`without trust %s: %s %s; want trust or row.ID() != "PreToolUse.deny" or (row.Mark `+
					`== checks.Fails and "trust" in row.Hint)`, row.Mark, row.Why, row.Hint)
			}
		}
		if trust == (r.code != 0) {
			t.Errorf("trusted %v: code %d %s; want trust != (r.code != 0)", trust, r.code, testbed.ClipText(r.stderr))
		}
	}
}
