//go:build unix

package standin

import (
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
)

// vscode as the hooks reference of its vendor says: handlers of type command below each event, a command for all systems
// or one (linux, osx), timeout in seconds (30 without one), a shell in the workspace. Exit code 2 refuses with stderr,
// another one is a warning; JSON decides below hookSpecificOutput.
var vscode = vendor{
	takes: []string{"the version"}, // of the files of Copilot CLI, which it reads as well
	agent: "vscode",
	user:  "~/.copilot/hooks/hookmux-vscode.json", project: "./.github/hooks/hookmux-vscode.json",
	was: []string{
		"{\n  \"version\": 1,\n  \"hooks\": {\n    \"PreToolUse\": [{\"type\": \"command\", \"command\": \"theirs\", \"timeout\": 5}]\n  }\n}\n",
		`{}`, "{\"hooks\": {}}",
	},
	rejects: []string{
		`{"hooks": {"PreToolUse": [{"command": "x"}]}}`,
		`{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "x"}]}]}}`,
		`{"hooks": {"PreToolUse": [{"type": "command"}]}}`,
		`{"hooks": {"PreToolUse": [{"type": "command", "command": "x", "timeout": "5"}]}}`,
	},
	load: (&flatShaped{kind: "command", command: []string{"linux", "command"}, limit: 30 * time.Second, timed: true,
		events: []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "SubagentStart",
			"SubagentStop", "Stop"},
		env: func(*world) []string { return []string{"COPILOT_AGENT=1"} }}).load,
	call: claudeCall("PreToolUse", "run_in_terminal", "standin-vscode", map[string]any{
		"timestamp": "2026-02-09T10:30:00.000Z", "tool_use_id": "tool-123"}),
	read:    readClaude(false),
	honours: honours{deny: refused, unchecked: asks},
	more:    vscodeShared,
}

// vscodeShared runs Copilot's file as VS Code does, translated to its own events and
// payloads. What its own hook and Copilot's are told of one call is the same event,
// and both hear the refusal in VS Code's words.
func vscodeShared(t *testing.T, w *world) {
	copilot, ok := agent.Builtin().Agent("copilot")
	if !ok {
		t.Fatal("copilot is not in the catalogue")
	}
	theirs := &world{Bench: w.Bench, agent: copilot, v: &vendor{agent: "copilot", user: "~/.copilot/hooks/hookmux.json"}}
	theirs.install(t, install.User)
	defer theirs.uninstall(t)
	c := w.v.call(w, "make deploy")
	own := w.ourEntry(t, w.v.user, c)
	line := own.argv[2]
	if !strings.Contains(line, " vscode PreToolUse") {
		t.Fatalf("the installed line is %q, want one for vscode", line)
	}
	shared := own
	shared.argv = shell(strings.Replace(line, " vscode PreToolUse", " copilot preToolUse", 1))
	for name, e := range map[string]entry{"its own file": own, "Copilot's file": shared} {
		if got := w.v.read(e, w.run(e, c.payload)); got.outcome != refused || !strings.Contains(got.why, "no deploys today") {
			t.Errorf("by %s: %s (%q), want refused with the hook's reason", name, got.outcome, got.why)
		}
	}
}
