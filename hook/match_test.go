package hook

import (
	"testing"

	"github.com/hookmux/hookmux/event"
)

func entry(t testing.TB, r Registration, run Handler) *Entry {
	t.Helper()
	if r.ID == "" {
		r.ID = "h"
	}
	if r.Agent == "" {
		r.Agent = Any
	}
	if r.HookType == "" {
		r.HookType = Any
	}
	if run == nil {
		run = HandlerFunc(nil)
	}
	e, err := NewEntry(r, run, "global")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMatch(t *testing.T) {
	t.Setenv("HOME", "/home/u[1]")
	shell := &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"cd /srv", "git push --force"}}
	edit := func(paths ...string) *event.Tool {
		return &event.Tool{Name: "Edit", Kind: event.FileEdit, Writes: paths}
	}
	for _, c := range []struct {
		name  string
		match Match
		tool  *event.Tool
		want  bool
	}{
		{"nothing set", Match{}, nil, true},
		{"no tool", Match{Tool: "shell"}, nil, false},
		{"kind", Match{Tool: "shell"}, shell, true},
		{"another kind", Match{Tool: "file_edit"}, shell, false},
		{"name", Match{Name: "Bash"}, shell, true},
		{"name glob", Match{Name: "B*"}, shell, true},
		{"names", Match{Name: "{Write,Bash}"}, shell, true},
		{"names are whole", Match{Name: "Bas"}, shell, false},
		{"names have cases", Match{Name: "bash"}, shell, false},
		{"a slash in a name is a letter", Match{Name: "github*"}, &event.Tool{Name: "github/create"}, true},
		{"... on both sides", Match{Name: "git*/create"}, &event.Tool{Name: "github/v2/create"}, true},
		{"one command is enough", Match{Command: `push\s+--force`}, shell, true},
		{"a command's part", Match{Command: `^git`}, shell, true},
		{"no such command", Match{Command: `^push`}, shell, false},
		{"no commands", Match{Command: `.*`}, edit("a"), false},
		{"every field must hold", Match{Tool: "shell", Name: "Bash", Command: "nope"}, shell, false},
		{"relative glob, relative path", Match{Path: "src/**"}, edit("src/a/b.go"), true},
		{"relative glob, absolute path", Match{Path: "src/**"}, edit("/w/src/b.go"), true},
		{"relative glob, dotted path", Match{Path: "src/**"}, edit("./x/../src/b.go"), true},
		{"relative glob, outside", Match{Path: "src/**"}, edit("/other/src/b.go"), false},
		{"absolute glob, absolute path", Match{Path: "/etc/**"}, edit("/etc/passwd"), true},
		{"absolute glob, climbing path", Match{Path: "/etc/**"}, edit("../etc/passwd"), true},
		{"absolute glob, climbing absolute path", Match{Path: "/etc/**"}, edit("/w/../etc/./passwd"), true},
		{"absolute glob, relative path", Match{Path: "/w/*.go"}, edit("main.go"), true},
		{"any depth", Match{Path: "**/.env"}, edit("/a/b/.env"), true},
		{"any depth, above", Match{Path: "**/.env"}, edit("../.env"), true},
		{"file name alone", Match{Path: "*.pem"}, edit("/deep/down/key.pem"), true},
		{"dot file by name", Match{Path: ".env*"}, edit("conf/.env.local"), true},
		{"not half a name", Match{Path: "env"}, edit("conf/.env"), false},
		{"a folder itself", Match{Path: "src/**"}, edit("src/"), true},
		{"one path is enough", Match{Path: "b"}, edit("a", "b"), true},
		{"paths read count", Match{Path: "secret"}, &event.Tool{Reads: []string{"secret"}}, true},
		{"home glob", Match{Path: "~/.ssh/**"}, edit("/home/u[1]/.ssh/id"), true},
		{"home glob, climbing", Match{Path: "~/.ssh/**"}, edit("../home/u[1]/.ssh/id"), true},
		{"home path", Match{Path: "/home/**/id"}, edit("~/.ssh/id"), true},
		{"home glob, home path", Match{Path: "~/.ssh/*"}, edit("~/x/../.ssh/id"), true},
		{"a home is no pattern", Match{Path: "~/.ssh/**"}, edit("/home/u1/.ssh/id"), false},
		{"a path that is a pattern", Match{Path: "a"}, edit("*"), false},
	} {
		e := entry(t, Registration{Match: &c.match}, nil)
		ev := event.Event{Kind: event.ToolBefore, Cwd: "/w", Tool: c.tool}
		if got := e.For(&ev); got != c.want {
			t.Errorf("%s: e.For(&ev) = %v, want %v", c.name, got, c.want)
		}
	}
}

// What cannot be seen whole is shown to a guard rather than kept from it.
func TestMatchOfAHiddenCall(t *testing.T) {
	command := Match{Tool: "shell", Command: "prod"}
	cut := &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"echo aaaa"}}
	for _, c := range []struct {
		name  string
		match Match
		ev    event.Event
		want  bool
	}{
		{"whole", command, event.Event{Kind: event.ToolBefore, Tool: cut}, false},
		{"cut", command, event.Event{Kind: event.ToolBefore, Tool: cut, Truncated: true}, true},
		{"cut, path", Match{Path: "/etc/**"}, event.Event{Kind: event.ToolBefore, Tool: cut, Truncated: true}, true},
		{"cut, another kind of tool", Match{Tool: "fetch", Command: "x"}, event.Event{Kind: event.ToolBefore, Tool: cut, Truncated: true}, false},
		{"cut, another name", Match{Name: "Edit", Command: "x"}, event.Event{Kind: event.ToolBefore, Tool: cut, Truncated: true}, false},
		{"cut before the tool", command, event.Event{Kind: event.ToolBefore, Truncated: true}, true},
		{"cut before the name", command, event.Event{Kind: event.PermissionRequest, Truncated: true, Tool: &event.Tool{Kind: event.OtherTool}}, true},
		{"unreadable", command, event.Event{Kind: event.ToolBefore, Malformed: "cut off"}, true},
		{"unreadable, after the fact", command, event.Event{Kind: event.ToolAfter, Malformed: "cut off"}, false},
		{"unreadable end", command, event.Event{Kind: event.TurnEnd, Malformed: "cut off"}, false},
		{"nothing to match", command, event.Event{Kind: event.TurnEnd}, false},
	} {
		if got := entry(t, Registration{Match: &c.match}, nil).For(&c.ev); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMatchWithoutAHome(t *testing.T) {
	t.Setenv("HOME", "")
	e := entry(t, Registration{Match: &Match{Path: "~/.ssh/**"}}, nil)
	ev := event.Event{Tool: &event.Tool{Reads: []string{"~/.ssh/id"}}}
	if !e.For(&ev) {
		t.Error("as it is written it still fits")
	}
}

func TestForType(t *testing.T) {
	ev := event.Event{Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore}
	off := false
	for _, c := range []struct {
		r    Registration
		want bool
	}{
		{Registration{}, true},
		{Registration{Agent: "claude"}, true},
		{Registration{Agent: "codex"}, false},
		{Registration{HookType: "tool.before"}, true},
		{Registration{HookType: "PreToolUse"}, true},
		{Registration{HookType: "pretooluse"}, false},
		{Registration{HookType: "tool.after"}, false},
		{Registration{SkipAgents: []string{"gemini", "claude"}}, false},
		{Registration{SkipAgents: []string{"gemini"}}, true},
		{Registration{Enabled: &off}, false},
	} {
		if got := entry(t, c.r, nil).ForType(&ev); got != c.want {
			t.Errorf("%+v: entry(t, c.r, nil).ForType(&ev) = %v, want %v", c.r, got, c.want)
		}
	}
}

// A tool of an MCP server is also found by the name it has in Claude Code.
func TestNamesOfServersTools(t *testing.T) {
	tool := &event.Tool{Name: "docs/search", MCP: &event.MCPCall{Server: "docs", Tool: "search"}}
	for name, want := range map[string]bool{
		"docs/search": true, "docs*": true, "mcp__docs__search": true, "mcp__docs__*": true, "mcp__*": true,
		"mcp__other__*": false, "search": false, "mcp__docs": false,
	} {
		e := entry(t, Registration{Match: &Match{Name: name}}, nil)
		if got := e.For(&event.Event{Kind: event.ToolBefore, Tool: tool}); got != want {
			t.Errorf("%q finds it: %v, want %v", name, got, want)
		}
	}
}

// A path counts from the project's root, wherever in it the agent is, and not
// beyond it.
func TestPathsOfTheProject(t *testing.T) {
	e := entry(t, Registration{Match: &Match{Path: "secrets/**"}}, nil)
	for _, c := range []struct {
		path, cwd string
		want      bool
	}{
		{"secrets/a", "/p", true}, {"/p/secrets/a", "/p/src", true}, {"../secrets/a", "/p/src", true},
		{"/other/secrets/a", "/p/src", false}, {"../../secrets/a", "/p/src", false}, {"/p", "/p/src", false},
		{"/p/secretsx/a", "/p/src", false},
	} {
		ev := &event.Event{Kind: event.ToolBefore, Cwd: c.cwd, Projects: []string{"/p"},
			Tool: &event.Tool{Name: "Read", Kind: event.FileRead, Reads: []string{c.path}}}
		if got := e.For(ev); got != c.want {
			t.Errorf("%s in %s: %v, want %v", c.path, c.cwd, got, c.want)
		}
	}
}

// A home folder's name is taken as it is, whatever a glob would make of it.
func TestMatchBelowAnOddHome(t *testing.T) {
	for _, home := range []string{"/home/u[1]", `/home/a\b`, "/home/*", "/home/{a,b}", "/home/?"} {
		t.Setenv("HOME", home)
		e := entry(t, Registration{Match: &Match{Path: "~/.ssh/**"}}, nil)
		for path, want := range map[string]bool{home + "/.ssh/id": true, "/home/x/.ssh/id": false, "/home/ab/.ssh/id": false} {
			ev := &event.Event{Kind: event.ToolBefore, Cwd: "/w",
				Tool: &event.Tool{Name: "Read", Kind: event.FileRead, Reads: []string{path}}}
			if got := e.For(ev); got != want {
				t.Errorf("HOME=%s, ~/.ssh/** and %s: got %v, want %v", home, path, got, want)
			}
		}
	}
}
