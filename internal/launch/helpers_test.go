package launch

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

const testHook = "/opt/hookmux/bin/hookmux-hook"

// catalogued returns a built-in agent with the flags of its vendor's --help,
// so that these tests don't hang on how much of it the catalogue lists.
func catalogued(t testing.TB, name string) *agent.Agent {
	t.Helper()
	a, ok := agent.Builtin().Agent(name)
	if !ok {
		t.Fatalf("no agent %s; want ok", name)
	}
	whole := *a
	switch a.Launch.Inject {
	case "settings-flag":
		whole.Launch.Sessions = []string{"-p", "--print"}
		whole.Launch.ValueFlags = strings.Fields(`--add-dir... --allowedTools... --append-system-prompt --debug? -d? --mcp-config...
			--model -n --name --output-format --resume? -r? --settings --system-prompt`)
	case "codex-overrides":
		whole.Launch.ValueFlags = strings.Fields("-c --config -i... --image... -m --model -C --cd --disable " +
			"--enable -s --sandbox")
	}
	return &whole
}

type files map[string]string

func (f files) read(path string) ([]byte, error) {
	text, ok := f[path]
	if !ok {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("no such file")}
	}
	return []byte(text), nil
}

func plan(t testing.TB, name string, f files, args ...string) (argv []string, injected bool, notes []string,
	err error) {
	t.Helper()
	return Plan(Request{Agent: catalogued(t, name), Args: args, Program: "/usr/bin/" + name, Hook: testHook,
		ReadFile: f.read})
}

// decoded returns a settings value that must be plain JSON.
func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("not plain JSON: %v\n%s", err, text)
	}
	return v
}

// groupsOf returns the groups of one event.
func groupsOf(t testing.TB, settings map[string]any, event string) []any {
	t.Helper()
	hooks, _ := settings["hooks"].(map[string]any)
	groups, _ := hooks[event].([]any)
	return groups
}

// commandOf returns the command of a group's only handler.
func commandOf(group any) string {
	g, _ := group.(map[string]any)
	hs, _ := g["hooks"].([]any)
	if len(hs) != 1 {
		return ""
	}
	h, _ := hs[0].(map[string]any)
	c, _ := h["command"].(string)
	return c
}
