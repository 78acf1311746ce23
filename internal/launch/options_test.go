package launch

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

func TestCommandsWithoutASessionPassUntouched(t *testing.T) {
	cases := []struct {
		agent string
		args  string // fields
		pass  bool
	}{
		{"claude", "", false},
		{"claude", "hello", false},
		{"claude", "mcp list", true},
		{"claude", "doctor", true},
		{"claude", "update", true},
		{"claude", "--version", true},
		{"claude", "-v", true},
		{"claude", "-p hi -v", true},
		{"claude", "hello --help", true},
		{"claude", "--verbose mcp list", true},
		{"claude", "--model opus mcp list", true},
		{"claude", "--model=opus mcp list", true},
		{"claude", "-nfoo mcp", true},
		{"claude", "hello mcp", false},
		{"claude", "--append-system-prompt doctor hi", false},
		{"claude", "--append-system-prompt --help hi", false},
		{"claude", "--add-dir ../a mcp", false},
		{"claude", "--resume mcp", false},
		{"claude", "--resume --verbose mcp", true},
		{"claude", "-r config", false},
		{"claude", "--debug mcp list", false},
		{"claude", "-p doctor", false},
		{"claude", "mcp list -p", false},
		{"claude", "--print update", false},
		{"claude", "-pc update", false},
		{"claude", "-- mcp", false},
		{"claude", "-p -- --version", false},
		{"claude", "-", false},
		{"codex", "", false},
		{"codex", "exec hi", false},
		{"codex", "resume --last", false},
		{"codex", "login", true},
		{"codex", "mcp list", true},
		{"codex", "completion bash", true},
		{"codex", "app-server", true},
		{"codex", "--version", true},
		{"codex", "exec --help", true},
		{"codex", "-m login", false},
		{"codex", "-c model=x login", true},
		{"codex", "-cmodel=x login", true},
		{"codex", "-c", false},
		{"codex", "fix the login", false},
		{"codex", "-i a.png login", false},
	}
	for _, c := range cases {
		t.Run(c.agent+" "+c.args, func(t *testing.T) {
			args := strings.Fields(c.args)
			argv, injected, _, err := plan(t, c.agent, nil, args...)
			if err != nil {
				t.Fatal(err)
			}
			if injected == c.pass {
				t.Errorf("injected = %v; want injected != c.pass", injected)
			}
			if want := append([]string{"/usr/bin/" + c.agent}, args...); c.pass && !slices.Equal(argv, want) {
				t.Errorf("argv = %q; want !c.pass or argv equal to want", argv)
			}
		})
	}
}

// The lists of the real catalogue, as they are.
func TestCatalogueKnowsTheCommonCommands(t *testing.T) {
	for _, line := range []string{
		"claude mcp list", "claude doctor", "claude update", "claude --version", "claude --model opus mcp list",
		"codex login", "codex mcp list", "codex completion zsh", "codex --version", "codex app-server",
	} {
		words := strings.Fields(line)
		a, _ := agent.Builtin().Agent(words[0])
		argv, injected, _, err := Plan(Request{Agent: a, Args: words[1:], Program: words[0], Hook: testHook})
		if err != nil || injected || !slices.Equal(argv, words) {
			t.Errorf("%s: injected %v, argv %q, err %v", line, injected, argv, err)
		}
	}
	for _, line := range []string{"claude", "claude -p hi", "claude --append-system-prompt doctor hi", "codex",
		"codex exec hi", "codex resume --last"} {
		words := strings.Fields(line)
		a, _ := agent.Builtin().Agent(words[0])
		if _, injected, _, err := Plan(Request{Agent: a, Args: words[1:], Program: words[0],
			Hook: testHook}); err != nil || !injected {
			t.Errorf("%s: injected %v, err %v; want no error and injected", line, injected, err)
		}
	}
}

func TestAgentsWithoutAWayAreToldWhatToDo(t *testing.T) {
	a := &agent.Agent{Name: "other", Title: "Other",
		Files: []agent.HookFile{{Path: "~/.guarded", GuardOnly: true}, {Path: "~/.other/hooks.json"}}}
	_, _, _, err := Plan(Request{Agent: a, Program: "/usr/bin/other", Hook: testHook})
	if err == nil || !strings.Contains(err.Error(), "~/.other/hooks.json") ||
		!strings.HasPrefix(err.Error(), "other can't load") {
		t.Errorf(`err = %v; want an error, "~/.other/hooks.json" in err.Error() and err.Error() to begin `+
			`with "other can't load"`, err)
	}
	if Check(a) == nil {
		t.Error("Check says it can be done")
	}
	if got := Can(agent.Builtin().Agents()); !slices.Contains(got, "claude") || !slices.Contains(got, "codex") {
		t.Errorf(`Can = %q; want "claude" in got and "codex" in got`, got)
	}
}
