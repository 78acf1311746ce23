//go:build unix

package standin

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
)

// windsurf as docs.windsurf.com/windsurf/cascade/hooks says: commands below each event, run by a shell in the
// workspace; exit code 2 of a pre-hook refuses with stderr, every other one lets the action go on.
var windsurf = vendor{
	agent: "windsurf",
	user:  "~/.codeium/windsurf/hooks.json", project: "./.windsurf/hooks.json",
	was: []string{
		"{\n  \"hooks\": {\n    \"pre_run_command\": [{\"command\": \"theirs\", \"show_output\": true}]\n  }\n}\n",
		`{}`, "{\"hooks\": {}}",
	},
	rejects: []string{
		`{"hooks": {"pre_run_command": [{"show_output": true}]}}`,
		`{"hooks": {"pre_run_command": {"command": "x"}}}`,
		`{"hooks": {"PreToolUse": [{"command": "x"}]}}`,
	},
	load: (&flatShaped{command: []string{"command"}, limit: time.Minute, events: []string{"pre_read_code",
		"post_read_code", "pre_write_code", "post_write_code", "pre_run_command", "post_run_command",
		"pre_mcp_tool_use", "post_mcp_tool_use", "pre_user_prompt", "post_cascade_response",
		"post_cascade_response_with_transcript", "post_setup_worktree"}}).load,
	call: func(w *world, command string) call {
		return call{event: "pre_run_command", payload: asJSON(map[string]any{"agent_action_name": "pre_run_command",
			"trajectory_id": "standin-windsurf", "execution_id": "1", "timestamp": "2026-02-09T10:30:00Z",
			"tool_info": map[string]any{"command_line": command, "cwd": w.Project}})}
	},
	read: func(_ entry, r result) reading {
		if r.failed == nil && r.Exit == 2 {
			return reading{refused, r.Stderr}
		}
		return reading{goesOn, r.Stdout}
	},
	honours: honours{deny: refused, unchecked: refused},
}

// devin as docs.devin.ai/cli/extensibility/hooks says: groups below hooks in the user's config, at the top of a project's
// hooks.v1.json; decision block or exit code 2 refuse, any other code is logged.
var devin = vendor{
	agent: "devin", user: "~/.config/devin/config.json", project: "./.devin/hooks.v1.json",
	was: []string{"{}", "{\n}\n"},
	rejects: []string{
		`{"hooks": {"PreToolUse": [{"command": "x"}]}}`,
		`{"hooks": {"PreToolUse": [{"hooks": [{"type": "script", "command": "x"}]}]}}`,
	},
	load: func(w *world, file string, text []byte) ([]entry, error) {
		rules := claudeShaped{at: "hooks", unit: time.Second, limits: map[string]time.Duration{"": time.Minute},
			types: []string{"prompt"}, events: []string{"PreToolUse", "PostToolUse", "PermissionRequest",
				"UserPromptSubmit", "Stop", "SessionStart", "SessionEnd", "PostCompaction"},
			env: func(w *world, _ string) []string { return []string{"DEVIN_PROJECT_DIR=" + w.Project} }}
		if strings.HasSuffix(filepath.Base(file), ".v1.json") {
			rules.at = ""
		}
		return rules.load(w, file, text)
	},
	call: claudeCall("PreToolUse", "exec", "standin-devin", map[string]any{"prompt_id": "prompt-1"}),
	read: func(_ entry, r result) reading {
		var answer struct{ Decision, Reason string }
		switch {
		case r.failed != nil:
			return reading{goesOn, r.failed.Error()}
		case r.Exit == 2:
			return reading{refused, r.Stderr}
		case r.Exit == 0 && json.Unmarshal([]byte(r.Stdout), &answer) == nil && answer.Decision == "block":
			return reading{refused, answer.Reason}
		case r.Exit == 0 && answer.Decision == "approve":
			return reading{approved, answer.Reason}
		}
		return reading{goesOn, r.Stdout}
	},
	honours: honours{deny: refused, unchecked: refused},
}
