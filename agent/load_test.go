package agent

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "agents [x]")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const ownAgent = `
name: mine
title: My agent
aliases: [my-agent]
dialect: claude
tried: "1.0"
events:
  - {name: PreToolUse, kind: tool.before, install: default, answer: tool, timeout: 10s, carries: {deny: "own: tried it"}}
fields:
  session: [sid]
  tool_name: [tool]
  tool_input: [args]
tools:
  - {name: run, kind: shell, commands: ["steps[].sh"]}
`

func TestOwnFilesAddAgents(t *testing.T) {
	c, problems := Load(writeFiles(t, map[string]string{"mine.yaml": ownAgent, "notes.txt": "no"}),
		filepath.Join(t.TempDir(), "missing"))
	if len(problems) > 0 {
		t.Fatalf("problems = %+v, want none", problems)
	}
	if a, ok := c.Agent("my-agent"); !ok || a.Title != "My agent" || len(c.Agents()) != len(Builtin().Agents())+1 {
		t.Fatal(`not there; want ok, a.Title == "My agent" and len(c.Agents()) == len(Builtin().Agents())+1`)
	}
	ev := c.Decode(Input{Agent: "mine", Event: "PreToolUse",
		Payload: []byte(`{"sid":"s","tool":"run","args":{"steps":[{"sh":"a"},{"sh":"b"}]}}`)})
	if ev.Session != "s" || ev.Kind != event.ToolBefore || !reflect.DeepEqual(ev.Tool.Commands, []string{"a", "b"}) {
		t.Errorf(`ev = %+v, ev.Tool = %+v; want ev.Session = "s", ev.Kind = event.ToolBefore and ev.Tool.Commands = `+
			`[]string{"a", "b"}`, ev, ev.Tool)
	}
	answer, sent := c.Encode(&ev, event.Decision{Verdict: event.Ask, Reason: "look"})
	if sent.Verdict != event.Deny || !strings.Contains(answer.Stdout, `"deny"`) {
		t.Errorf(`answer = %+v, sent = %+v; want sent.Verdict = event.Deny and "deny" in answer.Stdout`, answer, sent)
	}
}

func TestOwnFilesAddToAgents(t *testing.T) {
	c, problems := Load(writeFiles(t, map[string]string{"x.yaml": `
name: claude
events:
  - {name: Brandnew, kind: user.attention, install: default}
  - {name: Stop, kind: turn.end, install: default, timeout: 7s}
tools:
  - {name: Deploy, kind: shell, commands: [what]}
fields: {session: [better_id]}
ignored: {noise: says nothing}
`}))
	if len(problems) > 0 {
		t.Fatalf("problems = %+v, want none", problems)
	}
	a, _ := c.Agent("claude")
	base, _ := Builtin().Agent("claude")
	if len(a.Events) != len(base.Events)+1 || a.KindOf("Brandnew") != event.UserAttention ||
		a.Timeout("Stop") != 7*time.Second || a.Ignored["effort"] == "" || a.Ignored["noise"] == "" {
		t.Errorf(`a = %+v, want len(a.Events) = len(base.Events) + 1, a.KindOf("Brandnew") = event.UserAttention, `+
			`a.Timeout("Stop") = 7 * time.Second, a.Ignored["effort"] not empty and a.Ignored["noise"] not empty`, a)
	}
	ev := c.Decode(Input{Agent: "claude", Event: "PreToolUse",
		Payload: []byte(`{"session_id":"old","better_id":"new","tool_name":"Deploy","tool_input":{"what":"x"}}`)})
	if ev.Session != "new" || ev.Tool.Kind != event.Shell {
		t.Errorf(`ev = %+v, want ev.Session = "new" and ev.Tool.Kind = event.Shell`, ev)
	}
	// The built-in catalogue is not touched.
	if _, ok := base.Event("Brandnew"); ok || base.Timeout("Stop") != 600*time.Second {
		t.Error("the built-in entry changed")
	}
}

func TestProblemsNameFileAndLine(t *testing.T) {
	for text, want := range map[string]string{
		"name: mine\ndialect: claude\nevnts: []\n": `bad.yaml:3: unknown field "evnts"`,
		"name: mine\ndialect: klingon\n":           `bad.yaml:2: mine: dialect "klingon" is not known`,
		"name: Mine\n":                             `bad.yaml:1: name "Mine"`,
		"name: mine\ndialect: claude\nevents:\n  - name: A\n    kind: nope\n    install: default\n":                                                        `bad.yaml:5: mine: event A: kind "nope"`,
		"name: mine\ndialect: claude\nevents:\n  - {name: A, kind: other, install: never}\n":                                                               `bad.yaml:4: mine: event A: say why`,
		"name: mine\ndialect: claude\nevents:\n  - name: A\n    kind: other\n    install: default\n    answer: tool\n    carries:\n      deny: trust me\n": `bad.yaml:9: mine: event A: proof of deny`,
		"name: mine\ndialect: claude\nevents:\n  - name: A\n    kind: other\n    install: default\n    answer: poem\n":                                     `bad.yaml:7: mine: event A: this dialect has no answer "poem"`,
		"name: mine\ndialect: claude\nevents:\n  - name: A\n    kind: other\n    install: default\n    fields: {x: nowhere}\n":                             `bad.yaml:7: mine: event A: x goes into "nowhere"`,
		"name: mine\ndialect: claude\nevents:\n  - name: A\n    kind: other\n    install: default\n    timeout: soon\n":                                    `bad.yaml`,
		"name: mine\ndialect: claude\ntools:\n  - {name: a, kind: hammer}\n":                                                                               `bad.yaml:4: mine: tool a: kind "hammer"`,
		"name: mine\ndialect: claude\naliases: [codex]\n":                                                                                                  `bad.yaml:3: mine: alias "codex" belongs to codex`,
		"name: claude-code\ndialect: claude\n":                                                                                                             `bad.yaml:1: "claude-code" is an alias of claude`,
		"name: mine\ndialect: claude\nevents:\n  - {name: A, kind: tool.before, install: default}\n":                                                       `bad.yaml:4: mine: event A: no payload key is named for tool_name, so guards`,
		"name: mine\ndialect: claude\nevents:\n  - {name: A, kind: tool.before, install: default, fields: {t: tool_name}}\n":                               `bad.yaml:4: mine: event A: no payload key is named for tool_input, so guards`,
		"name: mine\ndialect: claude\nevents:\n  - {name: A, kind: tool.before, install: default}\nfields: {tool_name: [t], tool_input: [i]}\n":            `bad.yaml:4: mine: event A: no tool is described, so guards`,
		"name: mine\nname: twice\ndialect: claude\n":                                                                                                       `bad.yaml:2: `,
		"name: mine\ndialect: claude\ninstall:\n  way: magic\n  missing: open\n":                                                                           `bad.yaml:4: mine: install: way "magic"`,
		"name: mine\ndialect: claude\nevents:\n  - {name: A, kind: other, install: default, kind_with: {x: nope}}\n":                                       `bad.yaml:4: mine: event A: kind "nope" of x`,
		"name: [\n": `bad.yaml:1: `,
	} {
		c, problems := Load(writeFiles(t, map[string]string{"bad.yaml": text,
			"good.yaml": strings.ReplaceAll(ownAgent, "mine", "other")}))
		if len(problems) == 0 {
			t.Errorf("no problem in %q", text)
			continue
		}
		if got := problems[0].String(); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
		if _, ok := c.Agent("other"); !ok || len(c.Agents()) != len(Builtin().Agents())+1 {
			t.Errorf("%q: the other files were not taken", text)
		}
	}
}

func TestFilesResolve(t *testing.T) {
	env := func(k string) string { return map[string]string{"CLAUDE_CONFIG_DIR": "/cfg"}[k] }
	for _, c := range []struct {
		file HookFile
		env  func(string) string
		want string
	}{
		{HookFile{Path: "~/.claude/settings.json", Env: "CLAUDE_CONFIG_DIR"}, env, "/cfg/settings.json"},
		{HookFile{Path: "~/.claude/settings.json", Env: "CLAUDE_CONFIG_DIR"}, nil, "/h/.claude/settings.json"},
		{HookFile{Path: "./.codex/hooks.json"}, env, "/p/.codex/hooks.json"},
		{HookFile{Path: "/etc/x"}, env, "/etc/x"},
	} {
		if got := c.file.Resolve("/h", "/p", c.env); got != c.want {
			t.Errorf(`%+v: c.file.Resolve("/h", "/p", c.env) = %s, want %q`, c.file, got, c.want)
		}
	}
	pi := HookFile{Path: "~/.pi/agent/extensions/x.js", Env: "CLAUDE_CONFIG_DIR", EnvDir: "~/.pi/agent"}
	if got := pi.Resolve("/h", "/p", env); got != "/cfg/extensions/x.js" {
		t.Errorf(`pi.Resolve("/h", "/p", env) = %q, want "/cfg/extensions/x.js"`, got)
	}
	if (HookFile{Path: "~/x"}).Resolve("", "", nil) != "" || (HookFile{Path: "./x"}).Resolve("/h", "", nil) != "" {
		t.Error("made a path up")
	}
}

func TestMarks(t *testing.T) {
	c := Builtin()
	if a, ok := c.ByProgram("codex"); !ok || a.Name != "codex" {
		t.Error(`codex; want ok and a.Name == "codex"`)
	}
	if a, ok := c.ByProgram("node", "/usr/bin/node", "/opt/node_modules/@anthropic-ai/claude-code/cli.js"); !ok ||
		a.Name != "claude" {
		t.Error("claude by its script")
	}
	if _, ok := c.ByProgram("bash", "/bin/bash"); ok {
		t.Error("bash is an agent")
	}
	if a, name, ok := c.BelowAgent(func(k string) string { return map[string]string{"CLAUDECODE": "1"}[k] }); !ok ||
		a.Name != "claude" || name != "CLAUDECODE" {
		t.Error(`below claude; want ok, a.Name == "claude" and name == "CLAUDECODE"`)
	}
	if _, _, ok := c.BelowAgent(func(k string) string {
		return map[string]string{"CLAUDECODE": "0",
			"CLAUDE_PROJECT_DIR": "/p"}[k]
	}); ok {
		t.Error("CLAUDE_PROJECT_DIR proves nothing")
	}
}

func TestTimeouts(t *testing.T) {
	a, _ := Builtin().Agent("claude")
	if a.InstallTimeout("PreToolUse") != time.Hour || a.InstallTimeout("Stop") != 10*time.Minute ||
		a.InstallTimeout("nope") != 0 || a.Timeout("SessionEnd") != 1500*time.Millisecond {
		t.Errorf("time limits are %v, %v, %v and %v, want 1h, 10m, 0 and 1.5s", a.InstallTimeout("PreToolUse"),
			a.InstallTimeout("Stop"), a.InstallTimeout("nope"), a.Timeout("SessionEnd"))
	}
	for _, a := range Builtin().Agents() {
		for _, e := range a.Events {
			if limit := time.Duration(e.MaxTimeout); limit > 0 && a.InstallTimeout(e.Name) > limit {
				t.Errorf("%s %s asks for more than the agent permissions", a.Name, e.Name)
			}
			if e.Timeout == 0 {
				t.Errorf("%s %s has no time limit", a.Name, e.Name)
			}
		}
	}
}

// An agent's name belongs into its data and its dialect, nowhere else.
func TestNoAgentIsNamedInCode(t *testing.T) {
	files, _ := filepath.Glob("*.go")
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range Builtin().Agents() {
			for i, line := range strings.Split(string(code), "\n") {
				if strings.Contains(line, `"`+a.Name+`"`) && !strings.HasPrefix(strings.TrimSpace(line), "//") {
					t.Errorf("%s:%d names %s; want no `\"`+a.Name+`\"` in line or strings.TrimSpace(line) to "+
						"begin with \"//\"", file, i+1, a.Name)
				}
			}
		}
	}
}
