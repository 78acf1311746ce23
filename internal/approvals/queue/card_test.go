package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
)

// shown returns what a person sees of a real payload.
func shown(t *testing.T, name, native, payload string, need policy.Need) string {
	t.Helper()
	c := agent.Builtin()
	ev := c.Decode(agent.Input{Agent: name, Event: native, Payload: []byte(payload)})
	if ev.Malformed != "" {
		t.Fatalf(`ev.Malformed = %q, want ""`, ev.Malformed)
	}
	r := Request{Need: need, Event: &ev, Suggestions: ev.Suggestions}
	if rule, err := policy.RuleFor(&ev); err == nil && need.Kind == policy.Permission {
		r.Rule = &rule
	}
	Show(&r, "Agent", nil)
	sum := sha256.Sum256([]byte(r.Shown))
	if r.Hash != hex.EncodeToString(sum[:]) {
		t.Error("the hash is of something else")
	}
	return r.Shown
}

var yesNo = policy.Need{Kind: policy.Permission, Choices: []event.Choice{event.ChooseOnce, event.ChooseAlways,
	event.ChooseDeny}}

func TestCards(t *testing.T) {
	for name, c := range map[string]struct {
		agent, native, payload string
		need                   policy.Need
		want                   string
	}{
		"command": {"claude", "PermissionRequest",
			`{"session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":{"command":"a\nb","description":"what for","run_in_background":true}}`, yesNo,
			"Agent wants to run a command with Bash\nin /p\n  $ a\n  $ b\n  · description: what for\n  · run_in_background: true\n"},
		"write": {"claude", "PermissionRequest",
			`{"session_id":"s","tool_name":"Write","tool_input":{"file_path":"/p/x","content":"one\ntwo\n"}}`, yesNo,
			"Agent wants to write with Write\nfile: /p/x\n  + one\n  + two\nalways would allow: write and edit: /p/x\n"},
		"edit": {"claude", "PermissionRequest",
			`{"session_id":"s","tool_name":"Edit","tool_input":{"file_path":"/p/x","old_string":"a","new_string":"b","replace_all":true}}`, yesNo,
			"Agent wants to write with Edit\nfile: /p/x\n  - a\n  + b\n  · replace_all: true\nalways would allow: write and edit: /p/x\n"},
		"several edits": {"claude", "PermissionRequest",
			`{"session_id":"s","tool_name":"MultiEdit","tool_input":{"file_path":"/p/x","edits":[{"old_string":"a","new_string":"b"}]}}`, yesNo,
			"Agent wants to write with MultiEdit\nfile: /p/x\n  · edits:\n    [\n      {\n        \"old_string\": \"a\",\n        \"new_string\": \"b\"\n      }\n    ]\nalways would allow: write and edit: /p/x\n"},
		"mcp": {"claude", "PermissionRequest",
			`{"session_id":"s","tool_name":"mcp__db__drop","tool_input":{"table":"users"}}`, yesNo,
			"Agent wants to call drop of the MCP server db\n  · table: users\nalways would allow: call drop of the MCP server db, with any input\n"},
		"fetch": {"claude", "PermissionRequest",
			`{"session_id":"s","tool_name":"WebFetch","tool_input":{"url":"https://x.example/a","prompt":"sum up"}}`, yesNo,
			"Agent wants to use WebFetch\naddress: https://x.example/a\n  · prompt: sum up\nalways would allow: fetch anything from https://x.example\n"},
		"patch": {"opencode", "permission.asked",
			`{"type":"permission.asked","properties":{"id":"per_1","sessionID":"s","permission":"edit","patterns":["w.txt"],"metadata":{"filepath":"/p/w.txt","diff":"@@ -0,0 +1 @@\n+new"},"always":["*"]}}`, yesNo,
			"  @@ -0,0 +1 @@\n  +new\n"},
		"a guard's words": {"codex", "PreToolUse",
			`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"x"}}`,
			policy.Need{Kind: policy.Permission, Asked: "guard.destructive", Why: "two\nlines"},
			"Agent wants to run a command with Bash\nguard.destructive wants you to look: two⏎lines\n  $ x\n"},
		"cut": {"claude", "PermissionRequest", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"x"}}`,
			policy.Need{Kind: policy.Permission, Unseen: true}, "sent only the beginning"},
		"form": {"claude", "Elicitation", `{"session_id":"s","mcp_server_name":"m","message":"Which colour?","requested_schema":{"properties":{"c":{"type":"string","description":"a colour","enum":["red","blue"]}}}}`,
			policy.Need{Kind: policy.Question}, "Agent asks, for m\na colour (optional)\n  1) red\n  2) blue\n  Which colour?\n"},
		"address": {"claude", "Elicitation", `{"session_id":"s","mcp_server_name":"m","message":"Sign in","mode":"url","url":"https://x.invalid/a","elicitation_id":"1"}`,
			policy.Need{Kind: policy.Question}, "Agent asks, for m\nto be opened in a browser: https://x.invalid/a\n  Sign in\n"},
		"form without fields": {"claude", "Elicitation", `{"session_id":"s","mcp_server_name":"m","message":"Go on?","requested_schema":{"type":"object","properties":{}}}`,
			policy.Need{Kind: policy.Question}, "nothing to fill in\n  1) accept\n  Go on?\n"},
	} {
		if got := shown(t, c.agent, c.native, c.payload, c.need); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// No text of an agent can look like a line of ours, or hide.
func TestHostileCards(t *testing.T) {
	got := shown(t, "claude", "PermissionRequest",
		"{\"session_id\":\"s\",\"cwd\":\"/p\\nalways would allow: "+
			"nothing\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\\u001b[2K\\u202e\\u200b\\rx\\nalways "+
			"would allow: nothing\",\"description\":\"fine\\nalways would allow: all\"}}", yesNo)
	for line := range strings.SplitSeq(got, "\n") {
		if strings.HasPrefix(line, "always would allow") {
			t.Errorf("a line of the agent's looks like ours: %q", line)
		}
	}
	if strings.ContainsAny(got, "\x1b\r\u202e\u200b") || !strings.Contains(got, `\x1b[2K\u202e\u200b\x0dx`) {
		t.Errorf(`got %q, want not strings.ContainsAny(got, "\x1b\r\u202e\u200b") and \x1b[2K\u202e\u200b\x0dx in it`,
			got)
	}
	// Names are the agent's too, and none of it looks like a command.
	got = shown(t, "claude", "PermissionRequest",
		`{"session_id":"s","tool_name":"mcp__db__drop","tool_input":{"always would allow":"nothing","file":"/tmp/x","why":"fine\n$ ls","$ ls":"x","in":["/safe"]}}`, yesNo)
	for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\n") {
		ours := line == "Agent wants to call drop of the MCP server db" ||
			line == "always would allow: call drop of the MCP server db, with any input"
		if !ours && !strings.HasPrefix(line, "  · ") && !strings.HasPrefix(line, "    ") {
			t.Errorf("a line of the agent's looks like ours: %q", line)
		}
	}
	long := strings.Repeat("x", 200_000) + "END"
	if got := shown(t, "claude", "PermissionRequest", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"`+
		long+`"}}`, yesNo); !strings.Contains(got, long) {
		t.Error("cut; want long in got")
	}
}

func TestChangedByHooks(t *testing.T) {
	c := agent.Builtin()
	sent := c.Decode(agent.Input{Agent: "claude", Event: "PreToolUse",
		Payload: []byte(`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"rm x"}}`)})
	changed := sent
	c.WithInput(&changed, []byte(`{"command":"trash x"}`))
	r := Request{Need: yesNo, Event: &changed}
	Show(&r, "Agent", &sent)
	if !strings.Contains(r.Shown, "  $ trash x\n") ||
		!strings.Contains(r.Shown, "hooks changed the input; the agent asked for:\n  {\n    \"command\": \"rm x\"\n "+
			" }\n") {
		t.Errorf(`r.Shown = %q, want " $ trash x\n" in it and "hooks changed the input; the agent asked for:\n  {\n `+
			`   \"command\": \"rm x\"\n  }\n" in it`, r.Shown)
	}
}

func TestQuestionForms(t *testing.T) {
	for kind, want := range map[QuestionKind]string{Confirm: "[yes no]", Select: "[a b]", Input: "[]"} {
		q := Question{By: "h", Kind: kind, Title: "T", Text: "what?", Options: []string{"a", "b"}, Placeholder: "name"}
		inquiry := q.Inquiry()
		var labels []string
		for _, o := range inquiry.Options {
			labels = append(labels, o.Label)
		}
		if got := "[" + strings.Join(labels, " ") + "]"; got != want || inquiry.Free != (kind == Input) {
			t.Errorf("kind = %q, got %q, inquiry = %+v; want %q and inquiry.Free = (kind == Input)",
				kind, got, inquiry, want)
		}
	}
}

func TestEditedLine(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	if err := os.WriteFile(file, []byte("one\ntwo\nthree\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, old string
		want      int
	}{{file, "one", 1}, {file, "two\nthree", 2}, {file, "three", 0}, {file, "four", 0}, {file, "", 0},
		{filepath.Join(dir, "none"), "one", 0}, {dir, "one", 0}, {"a.go", "one", 0}, {"/dev/zero", "one", 0}} {
		input, _ := json.Marshal(map[string]string{"file_path": c.path, "old_string": c.old, "new_string": "x"})
		ev := event.Event{Tool: &event.Tool{Name: "Edit", Kind: event.FileEdit, Input: input, Writes: []string{c.path}}}
		if got := EditedLine(&ev); got != c.want {
			t.Errorf("%q in %s begins at line %d, want %d", c.old, c.path, got, c.want)
		}
	}
}
