package drivers

import (
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

// drivers: adding an agent is adding an entry, here and in package realagents.
var drivers = []Driver{
	{
		Name: "claude", Program: "claude", Run: true,
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
		Words: model.Vocabulary{
			Question: func(q model.Question) model.ToolCall {
				var options []any
				for _, o := range q.Options {
					options = append(options, map[string]any{"label": o, "description": o})
				}
				return model.Call("AskUserQuestion", map[string]any{"questions": []any{
					map[string]any{"question": q.Text, "header": q.Header, "options": options, "multiSelect": false}}})
			},
			Plan: func(text string) model.ToolCall { return model.Call("ExitPlanMode", map[string]any{"plan": text}) },
			MCP: func(m model.MCP) model.ToolCall {
				return model.Call("mcp__"+m.Server+"__"+m.Tool, m.Input)
			},
		},
		Compact: "/compact", Quit: "/exit", Accept: "Enter", AsksInStatus: true,
		Prompts: "Do you want to proceed",
		Questions: &Questions{Tool: "AskUserQuestion", Told: `"%s"="%s"`, Plan: "ExitPlanMode",
			PlanFile: `(/[^\s"\\` + "`" + `]+/plans/[\w-]+\.md)`,
			Args: func(p string) []string {
				return []string{"--permission-mode", "plan", "--", p}
			}, Modes: map[event.PlanMode]string{event.PlanAccept: "default", event.PlanAuto: "acceptEdits",
				event.PlanManual: "default"}},
		Forms: &Forms{Prompts: "requests your input", Args: func(p, url string) []string {
			return []string{"--permission-mode", "default", "--mcp-config", `{"mcpServers":{"` + FormServer +
				`":{"type":"http","url":"` + url + `"}}}`,
				"--allowedTools", "mcp__" + FormServer, "--", p}
		}},
		EndsOnTerm: true,
		Unproven: map[string]string{"Elicitation.allow": "a form is filled in by a person, and by no hook; see " +
			"inbox-form"},
		Racy: map[string]string{"StopFailure": "headless, the agent does not wait for this hook when it ends"},
		Unseen: map[string]string{
			"PermissionDenied": "only its auto mode sends it; TestRealReviewer switches that on",
			"PostModelSwitch":  "needs a second model and a person at /model",
			"ConfigChange":     "needs a settings file edited in a running session",
		},
	},
	{
		Name: "codex", Program: "codex", Run: true,
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
		AsksAtTerminal: true,
		Escalate: func(c model.ToolCall) model.ToolCall {
			return WithInput(c, map[string]any{"sandbox_permissions": "require_escalated", "justification": "Scripted"})
		},
		Subagent: func(p string) []model.Step {
			return []model.Step{
				{Calls: []model.ToolCall{withNamespace(model.Call("spawn_agent", map[string]any{"message": p}), "multi_agent_v1")}},
				{Calls: []model.ToolCall{{Name: "wait_agent", Namespace: "multi_agent_v1", Input: []byte(`{"targets":["${CHILD}"],"timeout_ms":15000}`)}}},
			}
		},
		Varies:  []string{`"nickname\\*":\s*\\*"[^"]*"`},
		Vars:    map[string]string{"CHILD": `agent_id\\*"\s*:\s*\\*"([0-9a-f-]{36})`},
		Welcome: []Welcome{{"Use existing model", []string{"Down", "Enter"}}},
		Compact: "/compact", Quit: "/quit", Accept: "y", AsksInStatus: true,
		Prompts: "Would you like to run the following command",
		Questions: &Questions{Tool: "request_user_input", Told: `"%s" = "%s"`, Single: true, IDs: true,
			Args: func(p string) []string {
				return []string{"--no-daemon", "--enable", "default_mode_request_user_input", "-a", "never", "-s",
					"danger-full-access", "--", p}
			}},
		Unseen: map[string]string{},
	},
	{
		Name: "grok", Program: "grok",
		Strict: func(p string) []string {
			return []string{"-p", p, "--allow", "Bash(*)", "--output-format", "json"}
		},
		TUI:     func(p string, _ bool) []string { return []string{"--allow", "Bash(*)", p} },
		Compact: "/compact", Quit: "/quit", Accept: "3", Interrupt: []string{"C-c"},
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
		Name: "kimi", Program: "kimi",
		NoStrict: "headless it approves everything", NoTUI: "its terminal " + notTried,
		NoEnd: "headless, this agent does not report the end of a session",
		Unseen: map[string]string{
			"PermissionRequest": "headless it approves everything",
			"PermissionResult":  "headless it approves everything",
			"SubagentStart":     "no helper was sent off: its turns come without a sign, and would be taken for the agent's own",
			"SubagentStop":      "no helper was sent off: its turns come without a sign, and would be taken for the agent's own",
			"PreCompact":        "needs a person at /compact, and its terminal " + notTried,
			"PostCompact":       "needs a person at /compact, and its terminal " + notTried,
			"Notification":      "no scripted turn was seen to cause it",
		},
	},
	{
		Name: "droid", Program: "droid", NoTUI: "its terminal asks for an account",
		// Without a level of autonomy it may only look.
		Strict: func(p string) []string { return []string{"exec", "-m", "custom:Scripted-0", p} },
		Escalate: func(c model.ToolCall) model.ToolCall {
			return WithInput(c, map[string]any{"riskLevel": "high"})
		},
		Unseen: map[string]string{
			"UserPromptSubmit": "headless, this agent does not report prompts",
			"Notification":     "comes with its own prompt at a terminal, which asks for an account",
			"SubagentStop":     "sending a helper off " + notTried,
			"PreCompact":       "needs a person at its terminal, which asks for an account",
		},
	},
	{
		Name: "gemini", Program: "gemini", NoStrict: "headless it takes out tools that need permission",
		TUI: func(p string, strict bool) []string {
			if strict {
				return []string{"-i", p}
			}
			return []string{"-y", "-i", p}
		},
		Quit: "/quit", Accept: "Enter",
		Unseen: map[string]string{"Notification": "comes with its own dialog, and nothing is claimed that would " +
			"open it"},
	},
	{
		Name: "amp", Program: "amp", NoStrict: "headless it approves everything",
		NoTUI: "its terminal asks for an account",
		NoEnd: "this agent does not report the end of a session",
	},
	{
		Name: "openclaw", Program: "openclaw", NoStrict: "headless it approves everything", AskRefuses: true,
		NoTUI:       "its terminal " + notTried,
		LargestCall: 128 << 10, // its own limit is 256,000 bytes; a longer call ends the turn
		NoEnd:       "without its Gateway, this agent does not report the end of a session",
		Unseen: map[string]string{
			"session_start":     "only its Gateway reports it",
			"session_end":       "only its Gateway reports it",
			"before_compaction": "needs a conversation that fills the model's window",
			"after_compaction":  "needs a conversation that fills the model's window",
		},
	},
	opencodeDriver("opencode", "OPENCODE_PERMISSION"),
	opencodeDriver("kilo", "KILO_PERMISSION"),
	{
		Name: "pi", Program: "pi", NoStrict: "it asks nobody by itself", AskRefuses: true,
		TUI: func(p string,
			_ bool) []string {
			return []string{"--provider", "scripted", "--model", "scripted", p}
		},
		Compact: "/compact", Quit: "/quit", Accept: "Enter",
		Prompts: "let bash run?", // our extension's
		Unseen: map[string]string{
			"agent_settled":        "only reported by versions without agent_before_settle",
			"agent_end":            "only reported by versions without agent_before_settle",
			"session_info_changed": "needs a person who names the session",
			"hookmux_answered":     "comes when its dialog is answered while a person is asked elsewhere, too",

			"session_before_switch": "needs a person who leaves the session; the tests of TypeScript hooks do (TestRealTSHooksInPi)",
			"session_before_fork":   "needs a person who forks the session",
		},
	},
	{
		Name: "omp", Program: "omp", NoStrict: "it asks nobody by itself", AskRefuses: true,
		TUI: func(p string, _ bool) []string {
			return []string{"--provider", "scripted", "--model", "scripted", "--no-title", p}
		},
		Compact: "/compact", Quit: "/quit", Accept: "Enter",
		Prompts: "let bash run?", // our extension's
		Unproven: map[string]string{
			"input.deny":    "headless, its prompts come without this event",
			"input.context": "headless, its prompts come without this event",
		},
		Unseen: map[string]string{
			"agent_end":        "only reported after an interrupt",
			"hookmux_answered": "comes when its dialog is answered while a person is asked elsewhere, too",

			"session_switch":        "needs a person who leaves the session",
			"session_branch":        "needs a person who forks the session",
			"session_before_switch": "needs a person who leaves the session",
			"session_before_branch": "needs a person who forks the session",

			"tool_approval_requested": "needs approvals switched on",
			"tool_approval_resolved":  "needs approvals switched on",
		},
	},
	{
		Name: "qwen", Program: "qwen", AskRefuses: true,
		TUI: func(p string, strict bool) []string {
			if strict {
				return []string{"--approval-mode", "default", "-i", p}
			}
			return []string{"--approval-mode", "yolo", "-i", p}
		},
		AsksAtTerminal: true,
		Compact:        "/compress", Quit: "/quit", Accept: "Enter",
		Prompts: "Allow execution of",
		NoEnd:   "headless, this agent does not report the end of a session",
		Subagent: func(p string) []model.Step {
			return []model.Step{{Calls: []model.ToolCall{model.Call("agent", map[string]any{
				"description": "Scripted helper", "prompt": p, "subagent_type": "general-purpose"})}}}
		},
		// Its terminal sometimes loses the output of a quick command.
		Varies: []string{`Output: (\(empty\)|out-[a-z]+)`},
		Unseen: map[string]string{
			"StopFailure":      "headless, a failed model call ends without any event",
			"PermissionDenied": "needs a person who says no",
		},
	},
	{
		Name: "copilot", Program: "copilot",
		Strict:     func(p string) []string { return []string{"-p", p} },
		AskRefuses: true,
		TUI: func(p string, strict bool) []string {
			if strict {
				return []string{"-i", p}
			}
			return []string{"--allow-all-tools", "-i", p}
		},
		Compact: "/compact", Quit: "/exit", Accept: "Enter", Interrupt: []string{"Escape", "Escape"},
		Prompts: "Do you want to run this command",
		Subagent: func(p string) []model.Step {
			return []model.Step{{Calls: []model.ToolCall{model.Call("task", map[string]any{
				"name": "helper", "description": "Scripted helper", "prompt": p, "agent_type": "general-purpose"})}}}
		},
		Brings:      map[string]string{"errorOccurred": "error"},
		FailsClosed: map[string]string{"crash": "any exit code but 0 refuses the call"},
		Unseen: map[string]string{
			"postToolUseFailure": "this agent does not count a command as failed that ends with another code than 0",
		},
	},
	{
		Name: "codebuddy", Program: "codebuddy", Front: "codebuddy.mjs",
		TUI: func(p string, strict bool) []string {
			if strict {
				return []string{"--model", "scripted", "--permission-mode", "default", "--", p}
			}
			return []string{"--model", "scripted", "--permission-mode", "bypassPermissions", "--", p}
		},
		AsksAtTerminal: true, AsksInStatus: true, KeepAtTerminal: true,
		Quit: "/exit", Accept: "y", Prompts: "May Bash go on?",
		FailsClosed: map[string]string{
			"crash": "a hook that was killed refuses the call",
			"hang":  "a hook that runs into its limit refuses the call",
		},
		NoEnd:    "headless, this agent does not report the end of a session",
		NoResume: "a session that another program hosts is not resumed by a person",
		Subagent: func(p string) []model.Step {
			return []model.Step{{Calls: []model.ToolCall{model.Call("Agent", map[string]any{
				"description": "Scripted helper", "prompt": p, "subagent_type": "general-purpose"})}}}
		},
		Unseen: map[string]string{
			"PermissionDenied":   "headless, a call without permission is refused; every headless start here permits calls",
			"PostToolUseFailure": "this agent does not count a command that fails as a failed call",
			"StopFailure":        "a failed model call ends with a plain Stop",
			"PreCompact":         "did not come when a short conversation was compacted",
			"PostCompact":        "did not come when a short conversation was compacted",
		},
	},
	{
		Name: "cline", Program: "cline", NoStrict: "headless it approves everything", NoTUI: "its terminal " + notTried,
		NoEnd: "headless, this agent reports the end of a session only when the run was cancelled",
		Stays: "this agent leaves a daemon of its own running",
		Unseen: map[string]string{
			"TaskResume":       "needs a task that is resumed",
			"TaskCancel":       "needs a person who stops a turn",
			"UserPromptSubmit": "was never seen to come in this version",
		},
	},
	{
		Name: "cursor", Program: "cursor-agent", NoStrict: "as a library it approves everything",
		NoTUI: "the command line and the editor ask for an account",
		Unproven: map[string]string{
			"subagentStop.keep": "helpers are sent off by the vendor's service, which is played here",
		},
		Unseen: map[string]string{
			"subagentStart": "helpers are sent off by the vendor's service, which is played here",
			"subagentStop":  "helpers are sent off by the vendor's service, which is played here",
			"preCompact":    "sent by the vendor's service, which is played here",
		},
	},
	{
		Name: "auggie", Program: "auggie", NoStrict: "headless it approves everything",
		NoTUI: "its terminal " + notTried,
		// With a megabyte it computes for half an hour without calling its hook.
		LargestCall: 16 << 10,
		Unseen: map[string]string{
			"Notification": "comes with its own prompt at a terminal, which " + notTried,
		},
	},
	{
		Name: "goose", Program: "goose", NoStrict: "headless it approves everything", NoTUI: "its terminal " + notTried,
	},
}

// opencodeDriver drives OpenCode, and what was made from it; permission is the
// variable that holds rules.
func opencodeDriver(name, permission string) Driver {
	return Driver{
		Name: name, Program: name,
		TUI:            func(p string, _ bool) []string { return []string{"--prompt", p} },
		AsksAtTerminal: true, StrictEnv: []string{permission + `={"bash":"ask"}`},
		Compact: "/compact", Quit: "/exit", Accept: "Enter", Interrupt: []string{"Escape", "Escape"},
		AsksInStatus: true, Prompts: "Permission required", Questions: &Questions{Tool: "question", Told: `"%s"="%s"`},
		FailedIsRefused: true, KeepAtTerminal: true,
		Varies: []string{`ses_[A-Za-z0-9]+`},
		Brings: map[string]string{"session.error": "error"},
		Subagent: func(p string) []model.Step {
			return []model.Step{{Calls: []model.ToolCall{model.Call("task", map[string]any{
				"description": "Scripted helper", "prompt": p, "subagent_type": "general"})}}}
		},
		Words: model.Vocabulary{
			Question: func(q model.Question) model.ToolCall {
				var options []any
				for _, o := range q.Options {
					options = append(options, map[string]any{"label": o, "description": o})
				}
				return model.Call("question", map[string]any{"questions": []any{
					map[string]any{"question": q.Text, "header": q.Header, "options": options}}})
			},
		},
		Unproven: map[string]string{"question.asked.allow": "the answer is a person's, given elsewhere, and no hook's"},
		Unseen: map[string]string{
			"question.replied": "needs a person who answers",
			"session.status":   "only reported while a model that cannot be reached is tried again",
		},
	}
}

const notTried = "was not tried"
