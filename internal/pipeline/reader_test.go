package pipeline

import (
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// Whose process is not known is told by the variables of the hook, nested agents by their own before those they
// inherited, and never one that does not read the file of the command.
func TestReadersAreKnownByTheirVariables(t *testing.T) {
	catalogue, problems := agent.LoadFiles([]agent.File{{Name: "x.yaml", Guest: true, Data: []byte("name: aaa\nlike: " +
		"claude\ntitle: A\ntried: \"1\"\nmarks: {caller: [HOME]}\n")}})
	if len(problems) > 0 {
		t.Fatalf("problems %v, want none", problems)
	}
	guest, _ := catalogue.Agent("aaa")
	guest.Install = &agent.InstallSpec{Reads: []string{"claude"}}
	for _, c := range []struct {
		say, named string
		env        map[string]string
		want       string
	}{
		{"Cursor through Claude's file", "claude", map[string]string{"CURSOR_VERSION": "3.1"}, "cursor"},
		{"VS Code through Copilot's file", "copilot", map[string]string{"COPILOT_AGENT": "1"}, "vscode"},
		{"VS Code through its own file", "vscode", map[string]string{"COPILOT_AGENT": "1"}, "vscode"},
		{"Cline inside VS Code", "cline", map[string]string{"COPILOT_AGENT": "1"}, ""},
		{"Copilot CLI in a terminal of VS Code", "copilot",
			map[string]string{"COPILOT_AGENT": "1", "COPILOT_CLI": "1"}, "copilot"},
		{"Trae through Claude's file", "claude", map[string]string{"TRAE_PROJECT_DIR": "/p"}, "trae"},
		{"a project's agent by a variable that everybody has", "claude", map[string]string{"HOME": "/h"}, ""},
		{"nobody's variables", "claude", nil, ""},
		{"an agent nobody knows", "nobodys", map[string]string{"CURSOR_VERSION": "3.1"}, ""},
	} {
		got := markedCaller(callerVariablesOf(catalogue)[c.named], func(name string) string { return c.env[name] })
		if got != c.want {
			t.Errorf("%s: %q speaks, want %q", c.say, got, c.want)
		}
	}
}
