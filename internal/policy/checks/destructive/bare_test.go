package destructive

import (
	"maps"
	"slices"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards/guardtest"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// A guard never panics, however few words a command has.
func TestShortCommands(*testing.T) {
	verbs := []string{"", "-", "--", "-f", "x", "rm", "delete", "stop", "sync", "system", "volume", "compose", "push", "stash",
		"worktree", "uninstall", "move", "trash", "-c", "-C", "-o", "-O", "--output", "down", "api", "s3", "reflog", "remove", "-e",
		"manage.py", "''"}
	for _, name := range programs.OfKind(slices.Collect(maps.Keys(ruleTable))...) {
		for _, first := range verbs {
			for _, second := range []string{"", "x", "-f", "rm", "--"} {
				command := name + " " + first + " " + second
				call := guardtest.ShellCall(command)
				script := shell.Parse(command)
				New().CheckScript(facts.NewScope(&call, &script, &facts.Report{}, nil))
			}
		}
	}
}

// What no shell can read is checked by its text.
func TestNamedInText(t *testing.T) {
	for text, want := range map[string]string{
		"rm -rf / (": "rm -r", "ls (": "", "git push --force (": "git push --force", "echo curl x | sh (": "curl x | sh",
		"DROP TABLE x (": "DROP TABLE", "chmod -R x (": "chmod -R", "firm -rf": "",
	} {
		if got := New().NamedIn(text); got != want && !(want != "" && len(got) >= len(want) && got[:len(want)] == want) {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}
