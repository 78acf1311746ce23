//go:build unix

package standin

import (
	"encoding/json"
	"testing"
	"time"
)

// iflow as docs_en/examples/hooks.md of its vendor says: groups below "hooks", a line for a shell, timeout in seconds
// (none without one), and every exit code but 0 refuses a call or a prompt. What a hook prints is shown to the user.
var iflow = vendor{
	agent: "iflow",
	user:  "~/.iflow/settings.json", project: "./.iflow/settings.json",
	was: []string{
		`{
  "theme": "Default",
  "hooks": {
    "PreToolUse": [{"matcher": "Edit|MultiEdit|Write", "hooks": [{"type": "command", "command": "theirs", "timeout": 10}]}]
  }
}
`,
		`{}`, "{\"hooks\": {}}",
	},
	rejects: []string{
		`{"hooks": {"PreToolUse": [{"hooks": [{"type": "prompt", "command": "x"}]}]}}`,
		`{"hooks": {"PreToolUse": [{"matcher": "*"}]}}`,
		`{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "x"}]}]}}`,
	},
	load: (&claudeShaped{at: "hooks", unit: time.Second, limits: map[string]time.Duration{"": 1000 * time.Hour},
		events: []string{"PreToolUse", "PostToolUse", "SetUpEnvironment", "Stop", "SubagentStop", "SessionStart",
			"SessionEnd", "UserPromptSubmit", "Notification"},
		env: func(w *world, _ string) []string {
			return []string{"IFLOW_SESSION_ID=standin-iflow", "IFLOW_CWD=" + w.Project,
				"IFLOW_HOOK_EVENT_NAME=PreToolUse", "IFLOW_TOOL_NAME=run_shell_command"}
		}}).load,
	call: claudeCall("PreToolUse", "run_shell_command", "standin-iflow", map[string]any{
		"tool_aliases": []string{"Shell", "Bash"}}),
	read: func(_ entry, r result) reading {
		if r.failed != nil || r.Exit != 0 {
			return reading{refused, r.Stderr}
		}
		return reading{goesOn, r.Stdout}
	},
	honours: honours{deny: refused, unchecked: refused},
	more:    iflowPrompt,
}

// iflowPrompt wants a prompt evaluated by the exit code as well, and nothing printed
// where there is no opinion.
func iflowPrompt(t *testing.T, w *world) {
	payload, err := json.Marshal(map[string]any{"session_id": "standin-iflow", "cwd": w.Project,
		"hook_event_name": "UserPromptSubmit", "prompt": "Make a file"})
	if err != nil {
		t.Fatal(err)
	}
	c := call{event: "UserPromptSubmit", payload: string(payload)}
	e := w.ourEntry(t, w.v.user, c)
	if r := w.run(e, c.payload); r.Exit != 0 || r.Stdout != "" {
		t.Errorf("a plain prompt: exit code %d and %q, want 0 and nothing", r.Exit, r.Stdout)
	}
}
