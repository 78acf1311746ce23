package ownfiles

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
)

// Agent is what this guard knows about a program that runs hooks. The test of
// internal/guard holds it against the catalogue.
type Agent struct {
	Programs []string
	// Moves are variables that have it read its configuration, and with it its
	// hooks, somewhere else.
	Moves []string
	// Off are options that keep it from running hooks, and OffVariables variables
	// that do.
	Off, OffVariables []string
	// Settings are options that name a file of settings. What stands in it is not
	// known, and it can switch hooks off.
	Settings []string
	// Packages are names under which npx and its like start it.
	Packages []string
}

// Agents are the known ones.
var Agents = []Agent{
	{Programs: []string{"claude"}, Moves: []string{"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MANAGED_SETTINGS_PATH"},
		Off: []string{"--bare", "--safe-mode"}, Settings: []string{"--settings", "--managed-settings"},
		OffVariables: []string{"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_PERSONAL_HOOKS_OFF",
			"CLAUDE_CODE_RESTRICTED", "CLAUDE_CODE_DISABLE_HOOK_FORWARDING"},
		Packages: []string{"@anthropic-ai/claude-code"}},
	{Programs: []string{"codex"}, Moves: []string{"CODEX_HOME"}, Off: []string{"--ignore-user-config"},
		Packages: []string{"@openai/codex"}},
	{Programs: []string{"gemini"}, Moves: []string{"GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
		"GEMINI_CLI_SYSTEM_DEFAULTS_PATH"}, Packages: []string{"@google/gemini-cli"}},
	{Programs: []string{"qwen"}, Moves: []string{"QWEN_HOME", "QWEN_CODE_SYSTEM_SETTINGS_PATH"}, Off: []string{"--bare",
		"--safe-mode"}, Packages: []string{"@qwen-code/qwen-code"}},
	{
		Programs: []string{"copilot"},
		Moves:    []string{"COPILOT_HOME", "XDG_CONFIG_HOME"},
		Packages: []string{"@github/copilot"},
	},
	{Programs: []string{"droid"}},
	{Programs: []string{"grok"}, Moves: []string{"GROK_HOME", "GROK_CONFIG", "GROK_CONFIG_PATH"}},
	{Programs: []string{"kimi", "kimi-code"}, Moves: []string{"KIMI_CODE_HOME", "KIMI_SHARE_DIR"}},
	{
		Programs: []string{"opencode"},
		Moves: []string{"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT",
			"XDG_CONFIG_HOME"},
		Off:          []string{"--pure"},
		OffVariables: []string{"OPENCODE_PURE"},
		Packages:     []string{"opencode-ai"},
	},
	{Programs: []string{"pi"}, Moves: []string{"PI_CODING_AGENT_DIR", "PI_CONFIG_DIR"}, Off: []string{"--no-extensions",
		"-ne"}},
	{Programs: []string{"codebuddy", "cbc"}, Moves: []string{"CODEBUDDY_CONFIG_DIR"}},
	{Programs: []string{"qodercli", "qoder"}, Moves: []string{"QODER_CONFIG_DIR"}, Settings: []string{"--settings",
		"--config-dir"}},
	{Programs: []string{"cursor-agent"}, Moves: []string{"CURSOR_CONFIG_DIR", "XDG_CONFIG_HOME"}},
	{Programs: []string{"goose"}, Moves: []string{"GOOSE_PATH_ROOT", "XDG_CONFIG_HOME"}},
	{Programs: []string{"amp"}, Moves: []string{"AMP_SETTINGS_FILE", "XDG_CONFIG_HOME"}},
	{Programs: []string{"crush"}, Moves: []string{"CRUSH_GLOBAL_CONFIG", "XDG_CONFIG_HOME"}},
	{Programs: []string{"cn"}, Moves: []string{"CONTINUE_GLOBAL_DIR"}},
	{Programs: []string{"kilo"}, Moves: []string{"XDG_CONFIG_HOME"}, Off: []string{"--pure"}},
	{Programs: []string{"auggie"}}, {Programs: []string{"iflow"}}, {Programs: []string{"cline"}},
	{Programs: []string{"kiro-cli"}},
	{Programs: []string{"aider"}}, {Programs: []string{"junie"}}, {Programs: []string{"vibe"}},
	{Programs: []string{"hermes"}},
}

var agentByProgram = func() map[string]*Agent {
	m := map[string]*Agent{}
	for i := range Agents {
		for _, p := range Agents[i].Programs {
			m[p] = &Agents[i]
		}
	}
	return m
}()

// startedAgent is the agent that a run starts, and the words behind it: the
// program itself, or npx with its package.
func startedAgent(r *shell.Run) (*Agent, []shell.Word) {
	if agent := agentByProgram[r.Name()]; agent != nil {
		return agent, r.Args()
	}
	switch r.Name() {
	case "npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun":
	default:
		return nil, nil
	}
	for i, a := range r.Args() {
		for k := range Agents {
			for _, name := range Agents[k].Packages {
				if a.Text == name || strings.HasPrefix(a.Text, name+"@") {
					return &Agents[k], r.Args()[i+1:]
				}
			}
		}
	}
	return nil, nil
}

// checkAgentStart: an agent that is started so that it does not find, or does not
// run, its hooks.
func (t *Checker) checkAgentStart(x *scope, r *shell.Run) {
	agent, args := startedAgent(r)
	if agent == nil || r.Contained {
		return
	}
	t.checkAgentSwitches(x, r, agent, args)
	for i := range x.Script.Runs {
		other := &x.Script.Runs[i]
		if other == r || len(other.Argv) == 0 || other.Name() == "export" || other.Name() == "declare" ||
			other.Name() == "typeset" {
			for _, a := range other.Assigns {
				if slices.Contains(agent.OffVariables, a.Name) && a.Value.Text != "" && a.Value.Text != "0" {
					x.Report.Add("hooks-off", r.String(), fmt.Sprintf("%s keeps %s from running its hooks", a.Name,
						agent.Programs[0]))
					return
				}
				if a.Name == "HOME" && !isHome(x, a.Value) ||
					slices.Contains(agent.Moves, a.Name) && a.Value.Text != "" {
					x.Report.Add(
						"hooks-off",
						r.String(),
						fmt.Sprintf(
							"%s=%s has %s read its settings, and with them its hooks, elsewhere",
							a.Name,
							a.Value.Text,
							r.Name(),
						),
					)
					return
				}
			}
		}
		if other == r {
			return
		}
	}
}

// isHome reports whether a value is the home directory there is.
func isHome(x *scope, w shell.Word) bool {
	p := x.ResolveWord(w, nil)
	return p.Known && p.Path == x.Home
}

// checkAgentSwitches: claude --settings '{"disableAllHooks":true}', codex
// --disable hooks and their like. They take hookmux out of the way for one launch.
func (t *Checker) checkAgentSwitches(x *scope, r *shell.Run, agent *Agent, args []shell.Word) {
	say := func(what string) {
		x.Report.Add(
			"hooks-off",
			r.String(),
			fmt.Sprintf("%s keeps %s from running its hooks", what, agent.Programs[0]),
		)
	}
	_, rest := inspect.SplitFlags(args)
	changes := len(rest) > 1 && rest[0].Text == "config" &&
		slices.Contains([]string{"set", "add", "remove", "rm", "unset"}, rest[1].Text)
	for i, a := range args {
		text := strings.ToLower(strings.NewReplacer(" ", "", "\n", "", "\t", "", `"`, "", "'", "").Replace(a.Text))
		next := ""
		if i+1 < len(args) {
			next = strings.ToLower(args[i+1].Text)
		}
		flag := ""
		if strings.HasPrefix(a.Text, "-") {
			flag, text, _ = strings.Cut(text, "=")
			if text == "" {
				text = strings.ReplaceAll(next, " ", "")
			}
		}
		switch {
		case strings.Contains(text, "disableallhooks:true"), strings.Contains(text, "disableallhooks=true"),
			strings.Contains(text, "disableallhooks:1"), strings.Contains(text, "hooksdisabled:true"):
			say("disableAllHooks")
		case changes && text == "disableallhooks" && next != "false",
			changes && (text == "hooks" || strings.HasPrefix(text,
				"hooks.")):
			say("config " + rest[1].Text + " " + text)
		case agent.Programs[0] == "codex" && (flag == "-c" || flag == "--config") && codexHooksOff(text):
			say(text)
		case flag == "--disable" && strings.Contains(text, "hooks"):
			say("--disable " + text)
		case text == "features" && next == "disable" && i+2 < len(args) && strings.Contains(args[i+2].Text, "hooks"):
			say("features disable " + args[i+2].Text)
		case flag == "--setting-sources" && !slices.Contains(strings.Split(text, ","), "user"):
			say("--setting-sources without user")
		case slices.Contains(agent.Settings, flag) && !strings.HasPrefix(strings.TrimSpace(text), "{"):
			say(flag + " with a file")
		case slices.Contains(agent.Off, flag):
			say(flag)
		default:
			continue
		}
		return
	}
}

// codexHooksOff reports whether a setting of codex -c changes or stops hooks.
func codexHooksOff(text string) bool {
	return strings.HasPrefix(text, "hooks=") || strings.HasPrefix(text, "hooks.") ||
		(strings.HasPrefix(text, "features.") || strings.HasPrefix(text, "features={")) &&
			strings.Contains(text, "hooks") &&
			strings.HasSuffix(strings.TrimSuffix(text, "}"), "=false")
}
