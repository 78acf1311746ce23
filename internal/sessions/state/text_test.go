package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// Calls of every agent, as captured, in the same few words.
func TestLabels(t *testing.T) {
	for _, c := range []struct{ agent, tool, input, want string }{
		{"claude", "Bash", `{"command":"go test ./..."}`, "Bash: go test ./..."},
		{"claude", "Bash", `{"command":"cat <<EOF\nx\nEOF"}`, "Bash: cat <<EOF …"},
		{"claude", "Bash", `{"command":""}`, "Bash"},
		{"claude", "Bash", `{}`, "Bash"},
		{"claude", "Edit", `{"file_path":"/src/app/models/foo.go"}`, "Edit models/foo.go"},
		{"claude", "Edit", `{"file_path":null}`, "Edit"},
		{"claude", "MultiEdit", `{"file_path":"/src/app/a.go","edits":[]}`, "Edit a.go"},
		{"claude", "Write", `{"file_path":"/etc/hosts"}`, "Write /etc/hosts"},
		{"claude", "Read", `{"file_path":"/src/app"}`, "Read ."},
		{"claude", "Read", `{"file_path":"/src/application/x"}`, "Read /src/application/x"},
		{"claude", "Grep", `{"pattern":"func (b \\*Book)"}`, `Grep 'func (b \*Book)'`},
		{"claude", "Glob", `{"pattern":"**/*.go"}`, "Glob **/*.go"},
		{"claude", "LS", `{"path":"/src/app/docs"}`, "List docs"},
		{"claude", "Agent", `{"subagent_type":"explore","prompt":"x"}`, "Subagent: explore"},
		{"claude", "WebFetch", `{"url":"https://user:pass@example.com/a/b?token=1","prompt":"x"}`, "Fetch example.com/a/b"},
		{"claude", "WebSearch", `{"query":"go 1.26"}`, "Web search 'go 1.26'"},
		{"claude", "mcp__github__list_issues", `{}`, "github: list_issues"},
		{"claude", "AskUserQuestion", `{"questions":[]}`, "Question"},
		{"claude", "ExitPlanMode", `{"plan":"x"}`, "Plan"},
		{"claude", "TodoWrite", `{"todos":[]}`, "TodoWrite"},
		{"claude", "Bash", `"not an object"`, "Bash"},
		{"codex", "Bash", `{"command":"ls"}`, "Bash: ls"},
		{"codex", "apply_patch", `{"command":"*** Begin Patch\n*** Update File: a/b.go\n*** Add File: c.go\n*** End Patch"}`, "Edit a/b.go (+1)"},
		{"codex", "apply_patch", `{"command":"*** Begin Patch\n*** Add File: new.go\n+package x\n*** End Patch"}`, "Write new.go"},
		{"codex", "spawn_agent", `{"message":"x"}`, "spawn_agent"},
		{"opencode", "bash", `{"command":"ls -la"}`, "Bash: ls -la"},
		{"opencode", "edit", `{"filePath":"/src/app/x.go"}`, "Edit x.go"},
		{"opencode", "list", `{"path":"/src/app/src"}`, "List src"},
		{"grok", "run_terminal_command", `{"command":"make"}`, "Bash: make"},
		{"grok", "list_dir", `{"target_directory":"/src/app/x"}`, "List x"},
		{"grok", "spawn_subagent", `{"description":"look around"}`, "Subagent: look around"},
		{"grok", "web_search", `{"query":"q"}`, "Web search 'q'"},
		{"gemini", "run_shell_command", `{"command":"ls"}`, "Bash: ls"},
		{"gemini", "search_file_content", `{"pattern":"x"}`, "Grep 'x'"},
		{"qwen", "write_file", `{"file_path":"/src/app/n.md"}`, "Write n.md"},
		{"kimi", "Bash", `{"command":"ls"}`, "Bash: ls"},
		{"droid", "Execute", `{"command":"ls"}`, "Bash: ls"},
		{"claude", "Bash", `{"command":"npm test -- --grep 'payment' && git commit -am 'Wait for the webhook'"}`,
			"Bash: npm test -- --grep 'payment' && git commit -am 'Wait for th…"},
		{"droid", "LS", `{"directory_path":"/src/app/d"}`, "List d"},
		{"copilot", "bash", `{"command":"ls"}`, "Bash: ls"},
		{"pi", "bash", `{"command":"ls"}`, "Bash: ls"},
		{"pi", "find", `{"pattern":"*.ts","path":"."}`, "Glob *.ts"},
		{"pi", "ls", `{"path":"src"}`, "List src"},
	} {
		tool := decodeTool(t, c.agent, c.tool, c.input)
		if got := Label(tool, "/src/app"); got != c.want {
			t.Errorf("%s %s %s: %q, should be %q", c.agent, c.tool, c.input, got, c.want)
		}
	}
	long := decodeTool(t, "claude", "Bash", `{"command":"`+strings.Repeat("é", 300)+`"}`)
	if got := Label(long, ""); utf8.RuneCountInString(got) > maxLabel || !utf8.ValidString(got) ||
		!strings.HasSuffix(got, "…") {
		t.Errorf(`got %q, want utf8.RuneCountInString(got) at most maxLabel, utf8.ValidString(got) and one that `+
			`ends with "…"`, got)
	}
	deep := decodeTool(t, "claude", "Edit", `{"file_path":"/very/`+strings.Repeat("long/", 30)+`a/b/c.go"}`)
	if got := Label(deep, "/src/app"); got != "Edit …/a/b/c.go" {
		t.Errorf(`Label(deep, "/src/app") = %q, want "Edit …/a/b/c.go"`, got)
	}
}

// decodeTool reads a call as its agent's payload would be read.
func decodeTool(t *testing.T, name, tool, input string) *event.Tool {
	t.Helper()
	c := agent.Builtin()
	a, _ := c.Agent(name)
	ev := event.Event{Agent: name, Tool: &event.Tool{Name: tool, Kind: a.Tool(tool).Kind}}
	c.WithInput(&ev, []byte(input))
	ev.Tool.Input = []byte(input)
	if server, rest, ok := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__"); ok &&
		strings.HasPrefix(tool, "mcp__") {
		ev.Tool.MCP = &event.MCPCall{Server: server, Tool: rest}
	}
	return ev.Tool
}

// Every shape in which a failure is told.
func TestFailing(t *testing.T) {
	for _, c := range []struct {
		name, command, output, fault string
		flagged                      bool
		want                         bool
		exit                         int
	}{
		{"nothing", "ls", ``, "", false, false, 0},
		{"text", "ls", `"some text with error in it"`, "", false, false, 0},
		{"claude's result", "ls", `{"stdout":"","stderr":"warning","interrupted":false}`, "", false, false, 0},
		{"flagged", "ls", ``, "Exit code 3\nno", true, true, 3},
		{"is_error", "ls", `{"is_error":true}`, "", false, true, 0},
		{"isError", "ls", `{"isError":true}`, "", false, true, 0},
		{"is_failure", "ls", `{"is_failure":true}`, "", false, true, 0},
		{"is_error false", "ls", `{"is_error":false}`, "", false, false, 0},
		{"error text", "ls", `{"error":"boom"}`, "", false, true, 0},
		{"error true", "ls", `{"error":true}`, "", false, true, 0},
		{"error object", "ls", `{"error":{"message":"boom"}}`, "", false, true, 0},
		{"error null", "ls", `{"error":null}`, "", false, false, 0},
		{"error blank", "ls", `{"errorMessage":""}`, "", false, false, 0},
		{"exit_code", "ls", `{"exit_code":2}`, "", false, true, 2},
		{"exitCode", "ls", `{"exitCode":127}`, "", false, true, 127},
		{"exit 0", "ls", `{"exit_code":0,"signal":null,"timed_out":false}`, "", false, false, 0},
		{"timed out", "ls", `{"exit_code":0,"timed_out":true}`, "", false, true, 0},
		{"signal", "ls", `{"signal":"SIGKILL"}`, "", false, true, 0},
		{"no signal", "ls", `{"signal":""}`, "", false, false, 0},
		{"nested", "ls", `{"Content":{"is_error":true}}`, "", false, true, 0},
		{"opencode", "ls", `{"metadata":{"exit":3}}`, "", false, true, 3},
		{"grok", "ls", `{"type":"Bash","exit_code":1,"signal":null,"timed_out":false,"output_for_prompt":"x"}`, "", false, true, 1},
		{"droid", "ls", `"out\n\n\n[Process exited with code 3]"`, "", false, true, 3},
		{"droid well", "ls", `"out\n\n\n[Process exited with code 0]"`, "", false, false, 0},
		{"qwen", "ls", `{"llmContent":"Command: x\nOutput: y\nError: (none)\nExit Code: 2\nSignal: (none)"}`, "", false, true, 2},
		{"qwen well", "ls", `{"llmContent":"Output: Exit Code: 9\nExit Code: 0\nSignal: (none)"}`, "", false, false, 0},
		{"copilot", "ls", `{"resultType":"success","textResultForLlm":"x\n<shellId: 0 completed with exit code 4>"}`, "", false, true, 4},
		{"copilot failure", "ls", `{"resultType":"failure"}`, "", false, true, 0},
		{"kimi", "ls", ``, "out\nCommand failed with exit code: 3.", true, true, 3},
		{"a person stopped it", "sleep 9", `{"interrupted":true}`, "Exit code 137", true, false, 0},
		// A search that found nothing did not fail.
		{"grep", "grep -r foo .", `{"exit_code":1}`, "", false, false, 0},
		{"grep that broke", "grep -r foo .", `{"exit_code":2}`, "", false, true, 2},
		{"rg", "rg foo src", ``, "Exit code 1", true, false, 0},
		{"git grep", "git --no-pager grep foo", `{"exit_code":1}`, "", false, false, 0},
		{"git diff", "git diff --quiet", `{"exit_code":1}`, "", false, false, 0},
		{"git push", "git push", `{"exit_code":1}`, "", false, true, 1},
		{"piped", "cat x | grep foo", `{"exit_code":1}`, "", false, false, 0},
		{"piped on", "grep foo x | make", `{"exit_code":1}`, "", false, true, 1},
		{"cd first", "cd /x && grep foo y", `{"exit_code":1}`, "", false, false, 0},
		{"make first", "make && grep foo y", `{"exit_code":1}`, "", false, true, 1},
		{"make before", "make; grep foo y", `{"exit_code":1}`, "", false, false, 0},
		{"diff", "diff a b", `{"exit_code":1}`, "", false, false, 0},
		{"test", "[ -f x ]", `{"exit_code":1}`, "", false, false, 0},
		{"double test", "[[ -f x ]]", `{"exit_code":1}`, "", false, false, 0},
		{"which", "which nope", `{"exit_code":1}`, "", false, false, 0},
		{"path", "/usr/bin/grep x y", `{"exit_code":1}`, "", false, false, 0},
		{"negated", "! grep x y", `{"exit_code":1}`, "", false, true, 1},
		{"broken text", "grep 'x", `{"exit_code":1}`, "", false, true, 1},
		{"not grep", "egreppo x", `{"exit_code":1}`, "", false, true, 1},
	} {
		ev := event.Event{Error: c.fault, Tool: &event.Tool{Name: "Bash", Kind: event.Shell,
			Commands: []string{c.command}, Output: []byte(c.output), Failed: c.flagged}}
		failed, _, exit := Failing(&ev)
		if failed != c.want || exit != c.exit {
			t.Errorf("%s: %v exit %d; want failed == c.want and exit == c.exit", c.name, failed, exit)
		}
	}
	ev := event.Event{Interrupted: true, Error: "x", Tool: &event.Tool{Name: "Read", Failed: true}}
	if failed, _, _ := Failing(&ev); failed {
		t.Error("an interrupted call failed")
	}
	if failed, _, _ := Failing(&event.Event{}); failed {
		t.Error("no call failed")
	}
}

// Captured results of real agents.
func TestFailingAsCaptured(t *testing.T) {
	for fixture, want := range map[string]bool{
		"claude/PostToolUse.Bash": false, "claude/PostToolUseFailure.Bash": true, "claude/PostToolUse.Edit": false, "claude/PostToolUse.Agent": false,
		"claude/PostToolUse.mcp": false, "codex/PostToolUse.Bash": false, "codex/PostToolUse.apply_patch": false,
		"grok/PostToolUse": false, "kimi/PostToolUse": false, "kimi/PostToolUseFailure.tui": true,
		"qwen/PostToolUse.run_shell_command": false, "qwen/PostToolUse.write_file": false, "qwen/PostToolUseFailure.read_file": true,
		"gemini/AfterTool.run_shell_command": false, "gemini/AfterTool.write_file": false, "gemini/AfterTool.invoke_agent": false,
		"copilot/postToolUse.bash": false, "copilot/postToolUse.create": false, "copilot/postToolUseFailure.view": true,
		"opencode/hook.tool.execute.after.bash": false, "opencode/hook.tool.execute.after.write": false, "opencode/hook.tool.execute.after.task": false,
		"opencode/event.message.part.updated.tool.read.error": true, "opencode/event.message.part.updated.tool.question.error": false,
		"pi/tool_result.bash": false, "pi/tool_result.bash.error": true, "pi/tool_execution_end.bash.error": true, "pi/tool_execution_end.write": false,
	} {
		name, file, _ := strings.Cut(fixture, "/")
		payload, err := os.ReadFile(filepath.Join("..", "..", "..", "agent", "testdata", "fixtures", fixture+".json"))
		if err != nil {
			t.Fatal(err)
		}
		native := strings.TrimPrefix(strings.TrimPrefix(file, "hook."), "event.")
		c := agent.Builtin()
		a, _ := c.Agent(name)
		for _, e := range a.Events {
			if native == e.Name || strings.HasPrefix(native, e.Name+".") {
				native = e.Name
				break
			}
		}
		ev := c.Decode(agent.Input{Agent: name, Event: native, Payload: payload})
		if ev.Kind != event.ToolAfter {
			t.Fatalf("%s is a %s, want event.ToolAfter", fixture, ev.Kind)
		}
		if failed, text, _ := Failing(&ev); failed != want {
			t.Errorf("%s: Failing(&ev) = %v, text = %s; want failed = %v", fixture, failed, text, want)
		}
	}
}

func TestSummary(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"  a\n\n b\t c ":                     "a b c",
		"<thinking>hm\nhm</thinking>\nDone.": "Done.",
		"<think>x</think>Done <thinking>y</thinking>.": "Done .",
		"<thinking>never closed":                       "<thinking>never closed",
		"bell\x07 and \x1b[31mred":                     "bell and [31mred",
		"bad \xff utf8":                                "bad ? utf8",
	} {
		if got := SummaryLine(in); got != want {
			t.Errorf("%q: oneline.Summary(in) = %q, want %q", in, got, want)
		}
	}
	for _, s := range []string{strings.Repeat("ü", 500), strings.Repeat("日本 ", 300), strings.Repeat("x", 5<<20)} {
		got := SummaryLine(s)
		if utf8.RuneCountInString(got) > 200 || !utf8.ValidString(got) || utf8.RuneCountInString(got) < 190 {
			t.Errorf("%d characters; want utf8.RuneCountInString(got) <= 200, utf8.ValidString(got) and "+
				"utf8.RuneCountInString(got) >= 190", utf8.RuneCountInString(got))
		}
	}
}

func TestPromptTitles(t *testing.T) {
	for in, want := range map[string]string{
		"Fix  the\nbuild": "Fix the build",
		"":                "", " \n ": "",
		"<task-notification>\n<task-id>1</task-id>":  "",
		"<command-message>x</command-message>":       "",
		"<local-command-stdout>x":                    "",
		"<system-reminder>x</system-reminder>":       "",
		"[Request interrupted by user for tool use]": "",
		"/compact":                           "",
		"/my-skill:do it":                    "",
		"/review please\nit":                 "",
		"/etc/hosts is broken":               "/etc/hosts is broken",
		"/":                                  "/",
		"/ hm":                               "/ hm",
		"<user_query>\nDo it\n</user_query>": "Do it",
		"<user_info>x</user_info><user_query>Do this</user_query>": "Do this",
		"<div> does not close, why?":                               "<div> does not close, why?",
	} {
		if got := PromptTitle(in); got != want {
			t.Errorf("%q: PromptTitle(in) = %q, want %q", in, got, want)
		}
	}
}

func TestTitles(t *testing.T) {
	w := newWorld(t)
	name := func() string { w.t.Helper(); return w.get().Title.Name() }
	w.send(event.TurnStart, prompt("/clear"))
	w.send(event.TurnStart, prompt("<task-notification>x"))
	if name() != "" {
		t.Errorf(`name() = %q, want ""`, name())
	}
	if c := w.send(event.TurnStart, prompt("First")); !c.Title || name() != "First" {
		t.Errorf(`name() = %q, want c.Title and "First"`, name())
	}
	if c := w.send(event.TurnStart, prompt("Second")); c.Title || name() != "First" {
		t.Error("the first prompt did not stay")
	}
	for _, step := range []struct{ source, title, want string }{
		{agent.TitleGenerated, "Made up", "Made up"},
		{agent.TitlePrompt, "First", "Made up"},
		{agent.TitleGenerated, "Made up better", "Made up better"},
		{agent.TitleNamed, "Mine", "Mine"},
		{agent.TitleGenerated, "No", "Mine"},
		{agent.TitleNamed, "  \n", "Mine"},
		{agent.TitleNamed, "Mine again", "Mine again"},
		{"rumour", "No", "Mine again"},
		{agent.TitleTopic, "claude has none", "Mine again"},
	} {
		w.sessions.TitleSeen(key, step.source, step.title, w.rules)
		if name() != step.want {
			t.Errorf("%s %q: name() = %q, want %q", step.source, step.title, name(), step.want)
		}
	}
	if c := w.sessions.Rename(key, "  by\thand "); !c.Title || name() != "by hand" || !w.get().Title.Locked() {
		t.Errorf(`name() = %q, want c.Title, "by hand" and w.get().Title.Locked()`, name())
	}
	if c := w.sessions.TitleSeen(key, agent.TitleNamed, "agent's", w.rules); c.Title || name() != "by hand" {
		t.Error("a person's title was replaced")
	}
	if w.sessions.Rename(key, " "); name() != "by hand" {
		t.Error("a blank replaced a person's title")
	}
	if c := w.sessions.AutoTitle(key); !c.Title || name() != "agent's" {
		t.Errorf(`name() = %q, want c.Title and "agent's"`, name())
	}
	// A title in an old event does not replace a newer one.
	w.send(event.Other, title("new"))
	w.send(event.Other, title("old"), at(t0.Add(1)))
	if w.sessions.AutoTitle(key); name() != "agent's" {
		t.Errorf(`name() = %q, want "agent's"`, name())
	}
	w.rules = rulesOf(t, "kimi")
	w.send(event.Other, title("fresh"))
	if c := w.sessions.Rename(Key{"x", "y"}, "z"); c.Any() {
		t.Error("renamed nobody; want !c.Any()")
	}
}

// Titles and labels are one line without anything that steers a terminal.
func TestHostileWords(t *testing.T) {
	hostile := "a\x1b]0;evil\x07\x1b[2J\r\nb\u0085c\u2028d\x00e\x9bf" + string([]byte{0xff, 0xfe})
	w := newWorld(t)
	w.send(event.TurnStart, prompt(hostile), title(hostile))
	w.send(event.ToolBefore, shell("c", hostile))
	w.send(event.ToolAfter, shell("d", hostile), failing(), failure(hostile))
	w.send(event.PermissionRequest, shell("", hostile), message(hostile))
	w.send(event.SubagentStart, by(hostile, hostile))
	w.sessions.Rename(key, hostile)
	s := w.get()
	words := []string{s.Title.Name(), s.Title.Own, s.Tool, s.Errors[0].Text, s.Errors[0].Tool, s.Asks[0].What,
		s.Subagents[0].Type, s.Subagents[0].ID}
	w.send(event.TurnEnd, message(hostile))
	w.send(event.SessionEnd, detail(hostile))
	s = w.get()
	for _, word := range append(words, s.Turn.Summary, s.EndReason) {
		if word == "" || strings.ContainsFunc(word,
			func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' }) || !utf8.ValidString(word) {
			t.Errorf("word = %q, want some, not strings.ContainsFunc(word, func(r rune) bool { return "+
				"unicode.IsControl(r) || r == '\\u2028' }) and utf8.ValidString(word)", word)
		}
	}
}
