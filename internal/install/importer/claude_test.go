package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// settings writes a settings file of Claude Code into a folder.
func settings(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, ".claude", name)
	os.MkdirAll(filepath.Dir(file), 0o755)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func stopHook(commands ...string) string {
	var list []string
	for _, c := range commands {
		list = append(list, fmt.Sprintf(`{"type": "command", "command": %q}`, c))
	}
	return `{"hooks": {"Stop": [{"hooks": [` + strings.Join(list, ", ") + `]}]}}`
}

func TestAgentsThatReadClaudesFilesAreSkipped(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	text := stopHook("x")
	user := settings(t, home, "settings.json", text)
	project := settings(t, t.TempDir(), "settings.json", text)
	local := settings(t, filepath.Dir(filepath.Dir(project)), "settings.local.json", text)

	// What the catalogue says counts: nothing here knows an agent by name.
	for _, a := range agent.Builtin().Agents() {
		if a.Install == nil || !slices.Contains(a.Install.Reads, "claude") {
			continue
		}
		r, err := importClaude([]string{project}, check)
		if err != nil || len(r.Hooks) != 1 || !slices.Contains(r.Hooks[0].SkipAgents, a.Name) ||
			!strings.Contains(notes(r), "its hooks pass by") {
			t.Errorf(`%s: r = %+v, error %v; want no error, len(r.Hooks) = 1, `+
				`slices.Contains(r.Hooks[0].SkipAgents, a.Name) and "its hooks pass by" in notes(r)`, a.Name, r, err)
		}
	}
	reads := &agent.InstallSpec{Reads: []string{"claude"}}
	agents := []*agent.Agent{
		{Name: "claude"}, {Name: "none", Install: &agent.InstallSpec{}}, {Name: "all", Install: reads},
		{Name: "here", Install: reads, Files: []agent.HookFile{{Scope: "project", Path: "./.claude/settings.json"}, {Scope: "user", Path: "~/.here/x.json"}}},
		{Name: "every", Install: reads, Files: []agent.HookFile{{Scope: "project", Path: "./.claude/settings*.json"}, {Scope: "user", Path: "~/.claude/settings.json"}}},
	}
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{user}, "claude all every"},
		{[]string{project}, "claude all every here"},
		{[]string{local}, "claude all every"},
		{[]string{project, local}, "claude all every here"}, // from one file is enough
	} {
		r, err := ImportClaudeFiles(c.files, ClaudeOptions{Agents: agents}, nil)
		if err != nil || len(r.Hooks) != 1 {
			t.Fatalf("r = %+v, error %v; want no error and len(r.Hooks) = 1", r, err)
		}
		if got := strings.Join(r.Hooks[0].SkipAgents, " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.files, got, c.want)
		}
	}
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Dir(project))
	if scopeOf(project) != scopeUser || scopeOf(user) != scopeProject {
		t.Error("the folder of a person's settings is not the one the environment names")
	}
}

func TestGlobalHooksThatRunTheProjectsFiles(t *testing.T) {
	const note = "a file of whatever project"
	for command, want := range map[string]bool{
		`"$CLAUDE_PROJECT_DIR"/x.sh`:        true,
		`${CLAUDE_PROJECT_DIR}/.claude/x`:   true,
		"./check.sh":                        true,
		"scripts/check.sh -x":               true,
		"sh check.sh":                       true,
		"timeout 5 python3 tools/check.py":  true,
		"bash -c './x.sh'":                  true,
		"lint --config ./lint.json":         true,
		"~/bin/check":                       false,
		"/opt/check --strict":               false,
		"python3 ~/hooks/check.py":          false,
		"python3 -c 'print(1)'":             false,
		"jq -r .tool_name":                  false,
		"curl -s https://example.org/x":     false,
		"$HOME/.claude/hooks/check.sh":      false,
		`sh "$HOME/.claude/hooks/check.sh"`: false,
	} {
		file := settings(t, t.TempDir(), "settings.json", stopHook(command))
		for _, global := range []bool{true, false} {
			r, err := ImportClaudeFiles([]string{file}, ClaudeOptions{Global: global}, check)
			if err != nil || len(r.Hooks) != 1 {
				t.Fatalf("command = %q, r = %+v, error %v; want no error and len(r.Hooks) = 1", command, r, err)
			}
			if got := strings.Contains(notes(r), note); got != (want && global) {
				t.Errorf("%s, global %v: noted %v; want got == (want && global)", command, global, got)
			}
		}
	}
}

func TestOrphans(t *testing.T) {
	dir := t.TempDir()
	file := settings(t, dir, "settings.json", stopHook("one", "two"))
	before, err := importClaude([]string{file}, check)
	if err != nil || len(before.Hooks) != 2 {
		t.Fatalf("before = %+v, error %v; want no error and len(before.Hooks) = 2", before, err)
	}
	settings(t, dir, "settings.json", stopHook("one", "changed"))
	after, _ := importClaude([]string{file}, check)
	ids := []string{before.Hooks[0].ID, before.Hooks[1].ID, after.Hooks[1].ID, "mine", "claude:mine",
		"claude:Stop:mine"}
	if got := Orphans(ids, after); len(got) != 1 || got[0] != before.Hooks[1].ID {
		t.Errorf("got %q, want 1 of them and got[0] = before.Hooks[1].ID", got)
	}
	if got := Orphans(ids, after, before); got != nil {
		t.Error("made by another result and yet an orphan:", got)
	}
	if !after.Owned("claude:PreToolUse:0123456789.file_edit") || after.Owned("claude:mine") {
		t.Error(`owned; want after.Owned("claude:PreToolUse:0123456789.file_edit") and !after.Owned("claude:mine")`)
	}
	// A file that is not there, or is switched off, says nothing.
	settings(t, dir, "off.json", `{"disableAllHooks": true}`)
	for _, name := range []string{"none.json", "off.json"} {
		r, err := importClaude([]string{filepath.Join(dir, ".claude", name)}, check)
		if got := Orphans(ids, r); err != nil || got != nil {
			t.Errorf("name = %q, Orphans(ids, r) = %q, error %v; want no error and nil", name, got, err)
		}
	}
	// A hook that was taken out of a file that is there is gone.
	settings(t, dir, "settings.json", `{}`)
	r, _ := importClaude([]string{file}, check)
	if got := Orphans(ids, r); len(got) != 3 {
		t.Errorf("Orphans(ids, r) = %q, want 3 of them", got)
	}
	amux, _ := ImportAmux(write(t, "hooks.json", `{"hooks": []}`), check)
	if Orphans(ids, amux) != nil {
		t.Error("agent-mux's file says nothing about Claude's hooks")
	}
}
