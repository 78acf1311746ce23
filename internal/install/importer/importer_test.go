package importer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/hook"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func notes(r Result) string {
	var list []string
	for _, n := range r.Notes {
		list = append(list, n.String())
	}
	return strings.Join(list, "\n")
}

func check(reg *hook.Registration) error {
	return reg.Check(nil, func(_, native string) bool { return native == "Native" })
}

func TestAmux(t *testing.T) {
	file := write(t, "hooks.json", `{
  "version": 1,
  "hooks": [
    {"id": "a", "agent": "claude", "hookType": "PreToolUse", "handler": "command", "target": "echo a", "priority": 5, "enabled": false},
    {"id": "b", "agent": "gemini", "hookType": "pre_prompt", "handler": "command", "target": "echo b", "priority": null, "metadata": {"x": 1}},
    {"id": "c d", "agent": "*", "hookType": "*", "handler": "builtin", "target": "claude.session-capture", "priority": 100},
    {"id": "e", "agent": "pi", "hookType": "onEvent", "handler": "builtin", "target": "mine"},
    {"id": "f", "agent": "opencode", "hookType": "on_step", "handler": "script", "target": "/opt/my script.sh"},
    {"id": "g", "agent": "codex", "hookType": "OnStop", "handler": "webhook", "target": "./x"},
    {"id": "h", "agent": "codex", "hookType": "Strange", "handler": "command", "target": "x"},
    {"id": "i", "agent": "claude", "hookType": "Native", "handler": "command", "target": "x"},
    {"id": "j", "agent": "claude", "hookType": "Stop", "handler": "command", "target": "amux hooks claude handle Stop"},
    {"id": "a2", "agent": "claude", "hookType": "Stop", "handler": "command", "target": "first"},
    {"id": "a2", "agent": "claude", "hookType": "StopHook", "handler": "command", "target": "second"},
    {"id": 7}
  ]
}`)
	r, err := ImportAmux(file, check)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range r.Hooks {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s %d %v %s", h.ID, h.Agent, h.HookType, h.Handler,
			h.Target, h.Order(), h.IsEnabled(), h.Role)))
	}
	want := []string{
		"a claude tool.before command echo a 5 false",
		"b gemini turn.start command echo b 100 true guard",
		"c-d * * builtin session-capture 100 true",
		"e pi * builtin mine 100 true",
		"f opencode model.response.after script '/opt/my script.sh' 100 true",
		"g codex turn.end script ./x 100 true",
		"i claude Native command x 100 true",
		"a2 claude turn.end command second 100 true",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf(`strings.Join(got, "\n") = %s, want strings.Join(want, "\n")`, strings.Join(got, "\n"))
	}
	all := notes(r)
	for _, part := range []string{
		`:5: imported: b: its metadata`, `"c d" became "c-d"`, `the nearest there is`,
		`"webhook" ran like a script`, `skipped: h: hookType`, `:11: imported: i: hook type "Native"`, `skipped: j: it calls agent-mux`, `:15: skipped: "id" cannot be a number`,
	} {
		if !strings.Contains(all, part) {
			t.Errorf("no note %q in\n%s", part, all)
		}
	}
	for _, text := range []string{"{}", "[]", "{"} {
		if _, err := ImportAmux(write(t, "x.json", text), nil); err == nil {
			t.Errorf("%s was imported; want an error", text)
		}
	}
	if _, err := ImportAmux(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want error os.ErrNotExist", err)
	}
}

func TestClaude(t *testing.T) {
	user := write(t, "settings.json", `{
  // mine
  "model": "x",
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "$CLAUDE_PROJECT_DIR/check.sh", "timeout": 10},
        {"type": "command", "command": "/opt/my tool", "args": ["--a", "it's"], "onFailure": "block"},
        {"type": "http", "url": "http://x"},
        {"type": "command", "command": "/opt/hookmux-hook claude PreToolUse"},
      ]},
      {"matcher": "Edit|MultiEdit|Write", "hooks": [{"type": "command", "command": "fmt"}]},
      {"hooks": [{"type": "command", "command": "all", "async": true, "timeout": -1}]},
    ],
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "prompt"}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "stop"}, {"type": "prompt", "prompt": "ok?"}]}],
    "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "start"}]}],
    "WorktreeCreate": [{"hooks": [{"type": "command", "command": "wt"}]}],
    "Notification": [{"matcher": "", "hooks": [{"type": "command", "command": "note"}]}],
    "PreCompact": [{"hooks": [{"type": "command", "command": "c", "shell": "powershell"}, {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/x"}, {"type": "command"}, 5]}],
    "Odd": "text"
  }
}`)
	project := write(t, "project.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "stop"}]}]}}`)
	off := write(t, "off.json", `{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "never"}]}]}}`)
	files := []string{user, filepath.Join(t.TempDir(), "none.json"), project, off}
	r, err := importClaude(files, check)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range r.Hooks {
		tool := ""
		if h.Match != nil {
			tool = h.Match.Tool
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s [%s] %s %s %s", h.HookType, tool, h.Target, h.Role,
			time.Duration(h.Timeout), h.OnFailure)))
		if h.Agent != "*" || h.Format != hook.Claude || h.SkipAgents[0] != "claude" ||
			!strings.HasPrefix(h.ID, "claude:") {
			t.Errorf(`h = %+v, want h.Agent = "*", h.Format = hook.Claude, h.SkipAgents[0] = "claude" and h.ID that `+
				`begins with "claude:"`, h)
		}
	}
	want := []string{
		"tool.before shell [$CLAUDE_PROJECT_DIR/check.sh]  10s",
		"tool.before shell ['/opt/my tool' --a 'it'\\''s']  0s deny",
		"tool.before file_edit [fmt]  0s",
		"tool.before file_write [fmt]  0s",
		"tool.before  [all] observe 0s",
		"turn.start  [prompt] guard 0s",
		"turn.end  [stop]  0s",
		"session.start  [start]  0s",
		"user.attention  [note]  0s",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf(`strings.Join(got, "\n") = %s, want strings.Join(want, "\n")`, strings.Join(got, "\n"))
	}
	if from := r.Hooks[6].From; from != project {
		t.Errorf("from = %q, want %q", from, project)
	}
	all := notes(r)
	for _, part := range []string{
		`:9: skipped: PreToolUse: handlers of type "http"`, "hookmux's own", `type "prompt"`, "every session.start, not only", "WorktreeCreate: other agents",
		`shell "powershell"`, "belongs to a plugin", "it has no command", "cannot be read", "disableAllHooks",
	} {
		if !strings.Contains(all, part) {
			t.Errorf("no note %q in\n%s", part, all)
		}
	}
	again, _ := importClaude(files, check)
	for i := range again.Hooks {
		if again.Hooks[i].ID != r.Hooks[i].ID {
			t.Error("ids differ from one import to the next")
		}
	}
	if _, err := importClaude([]string{write(t, "b.json", "{")}, nil); err == nil ||
		!strings.Contains(err.Error(), "line 1") {
		t.Errorf(`error %v, want an error and "line 1" in err.Error()`, err)
	}
}

func TestMatchers(t *testing.T) {
	for matcher, want := range map[string]string{
		"":                        "every",
		"*":                       "every",
		".*":                      "every",
		"Bash":                    "shell",
		"Edit|MultiEdit":          "file_edit !",
		"Edit, Write":             "file_edit file_write",
		"Bash,Read|Grep":          "shell file_read search !",
		"Task|Agent":              "task",
		"WebFetch|WebSearch":      "fetch",
		"WebFetch":                "fetch !",
		"Glob|Grep":               "search",
		"Read":                    "file_read",
		"Write":                   "file_write file_edit !", // patches create files, too
		"Write|Edit":              "file_write file_edit",
		"NotebookEdit":            "file_edit !",
		"Writ.*":                  "file_write file_edit !",
		"^B":                      "shell",
		"B.*":                     "shell",
		"^(Edit|Write)$":          "file_edit file_write",
		".*Edit":                  "file_edit !",
		"Notebook.*":              "file_edit file_read !",
		"mcp__memory__create":     "mcp/mcp__memory__create",
		"mcp__memory__.*":         "mcp/mcp__memory__*",
		"mcp__.*":                 "mcp/mcp__*",
		"mcp__.*__write.*":        "mcp/mcp__*__write*",
		"^mcp__x$":                "mcp/mcp__x",
		"Bash|mcp__github__.*":    "shell mcp/mcp__github__*",
		"TodoWrite":               "/TodoWrite !",
		"^Todo.*":                 "/Todo* !",
		"[":                       "error",
		"^[a-z]+$":                "error",
		"(mcp__a__b|mcp__c__d).*": "error",
		"|":                       "error",
		"as":                      "/as !", // no substring there either
	} {
		matches, warning, err := translateMatcher(matcher)
		var got []string
		for _, m := range matches {
			switch {
			case m == nil:
				got = append(got, "every")
			case m.Name == "":
				got = append(got, m.Tool)
			default:
				got = append(got, m.Tool+"/"+m.Name)
			}
		}
		if warning != "" {
			got = append(got, "!")
		}
		if err != nil {
			got = []string{"error"}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", matcher, got, want)
		}
	}
}

func TestConditions(t *testing.T) {
	for _, c := range []struct{ matcher, rule, want string }{
		{"", "Bash", "[{shell   }]"},
		{"Bash", "Bash(git push:*)", `[{shell  ^git push(\s|$) }]`},
		{"Bash|Edit", "Bash(echo *)", `[{shell  ^echo .*$ }]`},
		{"Edit", "Bash(echo *)", "never"},
		{"", "Edit(src/**)", "[{file_edit   src/**}]"},
		{"", "Read(//etc/**)", "[{file_read   /etc/**}]"},
		{"", "Write(src/**)", "[{file_write   src/**} {file_edit   src/**}]"},
		{"Write", "Edit(src/**)", "[{file_edit   src/**}]"},
		{"", "Read(/here/**)", "error"},
		{"", "WebFetch(domain:x)", "error"},
		{"", "Bash(", "error"},
	} {
		matches, _, err := translateMatcher(c.matcher)
		if err != nil {
			t.Fatal(err)
		}
		conditions, err := translateIf(c.rule)
		got := "error"
		if err == nil {
			got = "never"
			if kept := narrowMatches(matches, conditions); kept != nil {
				var list []hook.Match
				for _, m := range kept {
					list = append(list, *m)
				}
				got = fmt.Sprint(list)
			}
		}
		if got != c.want {
			t.Errorf("%q if %q: %s, want %s", c.matcher, c.rule, got, c.want)
		}
	}
	file := write(t, "s.json", `{"hooks": {
		"PreToolUse": [{"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "x", "if": "Bash(git:*)"}, {"type": "command", "command": "y", "if": "Read(~/x)"}]}],
		"Stop": [{"hooks": [{"type": "command", "command": "x", "if": "Bash", "once": true}]}],
		"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "x", "if": "Bash"}, {"type": "command", "command": "z", "once": true, "asyncRewake": true}]}]}}`)
	r, err := importClaude([]string{file}, check)
	if err != nil || len(r.Hooks) != 2 || r.Hooks[0].Match.Command == "" {
		t.Errorf("r.Hooks = %+v, error %v; want no error, len(r.Hooks) = 2 and r.Hooks[0].Match.Command not empty",
			r.Hooks, err)
	}
	all := notes(r)
	for _, part := range []string{`condition "Read(~/x)" has no counterpart`, `Stop: its condition`,
		"never hold together", "every time, not once", "cannot wake"} {
		if !strings.Contains(all, part) {
			t.Errorf("no note %q in\n%s", part, all)
		}
	}
}

func FuzzImport(f *testing.F) {
	f.Add(`{"hooks": {"PreToolUse": [{"matcher": "a.*", "hooks": [{"type": "command", "command": "x"}]}]}}`)
	f.Add(`{"hooks": [{"id": "a", "agent": "*", "hookType": "Stop", "handler": "script", "target": "x"}]}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(dir, fmt.Sprint(os.Getpid()))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, r := range []func() (Result, error){
			func() (Result, error) { return ImportAmux(file, check) },
			func() (Result, error) { return importClaude([]string{file}, check) },
		} {
			result, _ := r()
			for _, h := range result.Hooks {
				if err := check(&h.Registration); err != nil {
					t.Errorf("%+v: error %v, want no error", h, err)
				}
			}
		}
	})
}

// importClaude imports from files as if each were to be stored where it belongs: a
// person's own globally, a project's there.
func importClaude(files []string, check Check) (Result, error) {
	global := len(files) > 0 && scopeOf(files[0]) == scopeUser
	return ImportClaudeFiles(files, ClaudeOptions{Global: global}, check)
}
