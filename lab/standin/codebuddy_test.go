//go:build unix

package standin

import "time"

// codebuddy runs for real in `make verify` as well; its stand-in shows that the frame holds. Its documents: groups
// below "hooks", a line for a shell, timeout in seconds (60 without one), exit code 2 or permissionDecision decide,
// everything else lets the call go on.
var codebuddy = vendor{
	agent: "codebuddy",
	user:  "~/.codebuddy/settings.json", project: "./.codebuddy/settings.json",
	was: []string{
		`{
  "model": "theirs",
  "hooks": {
    "PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "theirs", "timeout": 5}]}]
  }
}
`,
		`{}`, "{\"model\":\t\"x\"}",
	},
	rejects: []string{
		`{"hooks": {"PreToolUse": [{"hooks": [{"type": "commnd", "command": "x"}]}]}}`,
		`{"hooks": {"PreToolUse": {"hooks": []}}}`,
		`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}`,
	},
	load: (&claudeShaped{at: "hooks", unit: time.Second, limits: map[string]time.Duration{"": time.Minute},
		types: []string{"prompt", "agent", "http"},
		events: []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "Notification", "UserPromptSubmit", "Stop",
			"StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "SessionStart", "SessionEnd",
			"PermissionRequest", "PermissionDenied", "Setup", "TaskCreated"}}).load,
	call:    claudeCall("PreToolUse", "Bash", "standin-codebuddy", nil),
	read:    readClaude(false),
	honours: honours{deny: refused, unchecked: refused},
}
