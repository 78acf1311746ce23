package hookentry

import "testing"

// TestInstalledCommandStringsStayTheSame holds command lines as they are
// installed, byte for byte: agents pin their trust to them.
func TestInstalledCommandStringsStayTheSame(t *testing.T) {
	const program = "/home/u/.local/share/hookmux/bin/hookmux-hook"
	for _, row := range []struct {
		command Command
		want    string
	}{
		{
			Command{Program: program, Agent: "codex", Event: "PreToolUse", Seconds: 60},
			"test -x " + program + " || exit 0; exec " + program + " codex PreToolUse 60",
		},
		{
			Command{Program: program, Agent: "claude", Event: "PreToolUse", Deny: true},
			"test -x " + program + ` || exec printf %s '{"hookSpecificOutput":{"hookEventName":"PreToolUse",` +
				`"permissionDecision":"deny","permissionDecisionReason":"hookmux could not be reached, ` +
				`and this call is only allowed with it; run: hookmux status"}}'; exec ` + program +
				" --on-unavailable=deny claude PreToolUse",
		},
		{
			Command{Program: `/home/it's =m\e/hookmux-hook`, Agent: "cursor", Event: "afterShellExecution", Deny: true},
			`test -x '/home/it'\''s =m'\\'e/hookmux-hook' || exit 0; ` +
				`exec '/home/it'\''s =m'\\'e/hookmux-hook' --on-unavailable=deny cursor afterShellExecution`,
		},
	} {
		if got := row.command.Line(); got != row.want {
			t.Errorf("the line of %+v is\n%s\nexpected\n%s", row.command, got, row.want)
		}
	}
}
