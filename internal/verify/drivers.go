package verify

import "github.com/hookmux/hookmux/internal/verify/model"

// drivers: adding an agent is adding an entry, here and in package agents.
var drivers = []Driver{
	{
		Name: "claude", Program: "claude", Run: true,
		// For commands that fail; `hookmux run` installs the rest itself.
		Install: nestedFile(".claude/settings.json"),
		Strict: func(p string) []string {
			return []string{"-p", p, "--output-format", "stream-json", "--verbose",
				"--allowedTools", "Bash(touch ran-granted:*),Bash(touch ran-ask:*),Bash(echo:*)"}
		},
		TUI: func(p string, strict bool) []string {
			args := []string{"--permission-mode", "default"}
			if !strict {
				args = append(args, "--allowedTools", "Bash")
			}
			return append(args, "--", p)
		},
		Subagent: func(p string) []model.Step {
			return []model.Step{{Calls: []model.ToolCall{model.Call("Agent", map[string]any{
				"description": "Scripted helper", "prompt": p, "subagent_type": "general-purpose"})}}}
		},
		Compact: "/compact", Quit: "/exit", Accept: "Enter",
		EndsOnTerm: true,
		Racy:       map[string]string{"StopFailure": "headless, the agent does not wait for this hook when it ends"},
		Unseen: map[string]string{
			"PermissionDenied": "only its auto mode sends it, which needs the vendor's service",
			"PostModelSwitch":  "needs a second model and a person at /model",
			"Elicitation":      "needs an MCP server that asks",
			"ConfigChange":     "needs a settings file edited in a running session",
		},
	},
	{
		Name: "codex", Program: "codex", Run: true,
		Install:  nestedFile(".codex/hooks.json"),
		Trusting: []string{"--dangerously-bypass-hook-trust"},
		TUI: func(p string, strict bool) []string {
			args := []string{"--no-daemon"}
			if strict {
				args = append(args, "-a", "on-request", "-s", "workspace-write")
			} else {
				args = append(args, "-a", "never", "-s", "danger-full-access")
			}
			return append(args, "--", p)
		},
		Escalate: func(c model.ToolCall) model.ToolCall {
			return withInput(c, map[string]any{"sandbox_permissions": "require_escalated", "justification": "Scripted"})
		},
		Subagent: func(p string) []model.Step {
			return []model.Step{
				{Calls: []model.ToolCall{withNamespace(model.Call("spawn_agent", map[string]any{"message": p}), "multi_agent_v1")}},
				{Calls: []model.ToolCall{{Name: "wait_agent", Namespace: "multi_agent_v1", Input: []byte(`{"targets":["${CHILD}"],"timeout_ms":15000}`)}}},
			}
		},
		Vars:    map[string]string{"CHILD": `agent_id\\*"\s*:\s*\\*"([0-9a-f-]{36})`},
		Welcome: []Welcome{{"Use existing model", []string{"Down", "Enter"}}},
		Compact: "/compact", Quit: "/quit", Accept: "y",
		Unseen: map[string]string{},
	},
	{
		Name: "grok", Program: "grok",
		Install: nestedFile(".grok/hooks/hookmux.json"),
		Strict: func(p string) []string {
			return []string{"-p", p, "--allow", "Bash(*)", "--output-format", "json"}
		},
		TUI:     func(p string, _ bool) []string { return []string{"--allow", "Bash(*)", p} },
		Compact: "/compact", Quit: "/quit", Accept: "3",
		Unstartable: true,
		Subagent: func(p string) []model.Step {
			return []model.Step{{Calls: []model.ToolCall{model.Call("spawn_subagent", map[string]any{
				"description": "Scripted helper", "prompt": p, "background": false})}}}
		},
		Unseen: map[string]string{
			"PermissionDenied": "needs a person who says no",
			"PostCompact":      "did not come when a short conversation was compacted",
		},
	},
	{
		Name: "kimi", Program: "kimi", Install: kimiHooks, Record: kimiRecorder,
		NoEnd:  "headless, this agent does not report the end of a session",
		Unseen: map[string]string{},
	},
	{
		Name: "droid", Program: "droid", Install: droidHooks, Record: droidRecorder,
		Unseen: map[string]string{"UserPromptSubmit": "headless, this agent does not report prompts"},
	},
	{Name: "gemini", Program: "gemini", Record: geminiRecorder},
	{Name: "codebuddy", Program: "codebuddy", Record: codebuddyRecorder},
	{Name: "cline", Program: "cline", Record: clineRecorder},
	{Name: "goose", Program: "goose", Record: gooseRecorder},
	{Name: "opencode", Program: "opencode", Record: opencodeRecorder},
	{Name: "pi", Program: "pi", Record: piRecorder},
	{Name: "qwen", Program: "qwen", Record: qwenRecorder},
	{Name: "copilot", Program: "copilot", Record: copilotRecorder},
}
