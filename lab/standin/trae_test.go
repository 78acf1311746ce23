//go:build unix

package standin

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// trae as docs.trae.cn/ide_hook-configuration-reference says: version 1, groups below "hooks", a line for bash in the
// workspace, timeout in seconds (30 without one), type command or none. Exit code 2 refuses with stderr, other codes
// do nothing. What is printed decides as Claude Code's does; an approval leaves Trae's own question as it is, and plain
// text is words for the model at a start and a prompt.
var trae = vendor{
	agent: "trae",
	user:  "~/.trae/hooks.json", project: "./.trae/hooks.json",
	was: []string{
		`{
  "version": 1,
  "hooks": {
    "PreToolUse": [{"matcher": "Edit|Write", "hooks": [{"command": "theirs", "timeout": 10}]}],
    "Stop": [{"loop_limit": 3, "hooks": [{"type": "command", "command": "theirs"}]}]
  }
}
`,
		`{}`, `{"hooks": {}}`, "{\n\t\"version\": 1\n}\n",
	},
	rejects: []string{
		`{"version": 2, "hooks": {"PreToolUse": [{"hooks": [{"command": "x"}]}]}}`,
		`{"version": 1, "PreToolUse": [{"hooks": [{"command": "x"}]}]}`,
		`{"version": 1, "hooks": {"PreToolUse": [{"hooks": [{"type": "http", "command": "x"}]}]}}`,
		`{"version": 1, "hooks": {"beforeShellExecution": [{"hooks": [{"command": "x"}]}]}}`,
		`{"version": 1, "hooks": {"PreToolUse": [{"command": "x"}]}}`,
	},
	load: loadTrae,
	call: claudeCall("PreToolUse", "RunCommand", "standin-trae", map[string]any{"llm_tool_name": "RunCommand",
		"tool_use_id": "toolcall-1", "workspace_roots": []string{}}),
	read: readTrae,
	// The question to the user is the strongest thing hookmux asks for where nobody can check.
	honours: honours{deny: refused, unchecked: asks},
	more:    traeSilence,
}

var traeRules = &claudeShaped{at: "hooks", unit: time.Second, limits: map[string]time.Duration{"": 30 * time.Second},
	untyped: true,
	events:  []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "Notification"},
	env: func(w *world, _ string) []string {
		return []string{"TRAE_PROJECT_DIR=" + w.Project, "CLAUDE_PROJECT_DIR=" + w.Project}
	}}

func loadTrae(w *world, file string, text []byte) ([]entry, error) {
	var top struct{ Version *int }
	if err := json.Unmarshal(text, &top); err != nil {
		return nil, err
	}
	if top.Version != nil && *top.Version != 1 {
		return nil, fmt.Errorf("version %d is not supported", *top.Version)
	}
	return traeRules.load(w, file, text)
}

// readTrae reads an answer; an approval does not skip Trae's own question.
func readTrae(e entry, r result) reading {
	got := readClaude(true)(e, r)
	if got.outcome == approved {
		got.outcome = goesOn
	}
	return got
}

// traeSilence wants nothing printed at a start and a prompt: it would be words for the
// model.
func traeSilence(t *testing.T, w *world) {
	for event, more := range map[string]map[string]any{
		"SessionStart":     {"source": "startup"},
		"UserPromptSubmit": {"prompt": "Make a file"},
	} {
		payload := map[string]any{"session_id": "standin-trae", "cwd": w.Project, "hook_event_name": event}
		for k, v := range more {
			payload[k] = v
		}
		c := call{event: event, payload: asJSON(payload)}
		if r := w.run(w.ourEntry(t, w.v.user, c), c.payload); r.Exit != 0 || r.Stdout != "" {
			t.Errorf("%s: exit code %d and %q, want 0 and nothing", event, r.Exit, r.Stdout)
		}
	}
}
