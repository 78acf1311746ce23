//go:build unix

package standin

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// qoder as docs.qoder.com/cli/hooks and the skill hook-config of its package 1.1.52 say: groups below "hooks", a line
// for bash, timeout in seconds (600 without one), exit code 2 refuses, other codes do nothing. The output of a hook
// must be JSON, and must name its event where it has hookSpecificOutput. A group that is wrong is dropped alone.
var qoder = vendor{
	agent: "qoder",
	user:  "~/.qoder/settings.json", project: "./.qoder/settings.json",
	was: []string{
		`{
  "hooks": {
    "PreToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "theirs", "name": "guard"}]}]
  }
}
`,
		`{}`, "{\"model\":\t\"x\"}",
	},
	rejects: []string{
		`{"hooks": {"PreToolUse": [{"hooks": [{"type": "script", "command": "x"}]}]}}`,
		`{"hooks": {"PreToolUse": {"hooks": []}}}`,
		`{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "x"}]}]}}`,
	},
	load: qoderRules.load,
	call: claudeCall("PreToolUse", "Bash", "standin-qoder", map[string]any{"permission_mode": "default",
		"transcript_path": "/home/user/.qoder/projects/p/standin-qoder.jsonl", "tool_use_id": "call_1"}),
	read: readQoder,
	// The question to the user is the strongest thing hookmux asks for where nobody can check.
	honours: honours{deny: refused, unchecked: asks},
	more:    qoderSilence,
}

var qoderRules = &claudeShaped{at: "hooks", unit: time.Second, limits: map[string]time.Duration{"": 10 * time.Minute},
	types: []string{"prompt", "agent", "http"},
	events: []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied",
		"UserPromptSubmit", "SessionStart", "Setup", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
		"TeammateIdle", "PreCompact", "PostCompact", "Notification", "ConfigChange", "InstructionsLoaded", "CwdChanged",
		"FileChanged", "WorktreeCreate", "WorktreeRemove", "Elicitation", "ElicitationResult", "TaskCreated",
		"TaskCompleted"},
	env: func(w *world, _ string) []string {
		return []string{"QODER_PROJECT_DIR=" + w.Project, "CLAUDE_PROJECT_DIR=" + w.Project}
	}}

// readQoder takes what Claude Code takes, with two differences: text that is no JSON is an error of the hook, and an
// output without its event's name is thrown away whole.
func readQoder(e entry, r result) reading {
	if text := strings.TrimSpace(r.Stdout); r.failed == nil && r.Exit == 0 && text != "" && !json.Valid([]byte(text)) {
		return reading{goesOn, "the hook failed: " + text}
	}
	return readClaude(true)(e, r)
}

// qoderSilence wants nothing printed at all: anything but JSON would be an error on
// Qoder's screen.
func qoderSilence(t *testing.T, w *world) {
	c := w.v.call(w, "echo hello")
	e := w.ourEntry(t, w.v.user, c)
	if r := w.run(e, c.payload); r.Stdout != "" || r.Exit != 0 {
		t.Errorf("no opinion is printed as %q with exit code %d, want nothing and 0", r.Stdout, r.Exit)
	}
}
