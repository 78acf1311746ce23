package handler

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

func TestClaudeInputOfATool(t *testing.T) {
	for _, c := range []struct {
		name string
		tool event.Tool
		want string // tool_name tool_input
	}{
		{"shell", event.Tool{Kind: event.Shell, Name: "run_terminal_command", Commands: []string{"ls"}, Input: json.RawMessage(`{"command":"ls","description":"d"}`)},
			`Bash {"command":"ls","description":"d"}`},
		{"shell, other key", event.Tool{Kind: event.Shell, Name: "exec", Commands: []string{"ls"}, Input: json.RawMessage(`{"cmd":"ls","n":1}`)},
			`Bash {"command":"ls","n":1}`},
		{"shell, list", event.Tool{Kind: event.Shell, Name: "shell", Commands: []string{"ls"}, Input: json.RawMessage(`{"command":["bash","-lc","ls"],"workdir":"/"}`)},
			`Bash {"command":"ls","workdir":"/"}`},
		{"shell, deep", event.Tool{Kind: event.Shell, Name: "shell", Commands: []string{"ls"}, Input: json.RawMessage(`{"action":{"exec":{"line":"ls"}}}`)},
			`Bash {"command":"ls","action":{"exec":{"line":"ls"}}}`},
		{"read", event.Tool{Kind: event.FileRead, Name: "read_file", Reads: []string{"a"}, Input: json.RawMessage(`{"target_file":"a","limit":3}`)},
			`Read {"file_path":"a","limit":3}`},
		{"write", event.Tool{Kind: event.FileWrite, Name: "write", Writes: []string{"a"}, Input: json.RawMessage(`{"filePath":"a","contents":"x"}`)},
			`Write {"file_path":"a","content":"x"}`},
		{"edit", event.Tool{Kind: event.FileEdit, Name: "edit", Writes: []string{"a"}, Input: json.RawMessage(`{"filePath":"a","oldString":"x","newString":"y","replaceAll":true}`)},
			`Edit {"file_path":"a","old_string":"x","new_string":"y","replace_all":true}`},
		{"patch", event.Tool{Kind: event.FileEdit, Name: "apply_patch", Writes: []string{"a", "b"}, Input: json.RawMessage(`{"command":"*** Begin Patch"}`)},
			`Edit {"file_path":"a","command":"*** Begin Patch"}`},
		{"patch of a file", event.Tool{Kind: event.FileEdit, Name: "apply_patch", Writes: []string{"a"}, Input: json.RawMessage(`{"command":"*** Begin Patch\n*** Update File: a\n@@\n keep\n-old\n+new secret\n*** Add File: b\n+one\n+two\n*** Delete File: c\n*** End Patch"}`)},
			`Edit {"file_path":"a","command":"*** Begin Patch\n*** Update File: a\n@@\n keep\n-old\n+new secret\n*** Add File: b\n+one\n+two\n*** Delete File: c\n*** End Patch","old_string":"keep\nold","new_string":"keep\nnew secret"}`},
		{"patch of a new file", event.Tool{Kind: event.FileEdit, Name: "apply_patch", Writes: []string{"b"}, Input: json.RawMessage(`{"input":"*** Begin Patch\n*** Update File: a\n@@\n keep\n-old\n+new secret\n*** Add File: b\n+one\n+two\n*** Delete File: c\n*** End Patch"}`)},
			`Edit {"file_path":"b","input":"*** Begin Patch\n*** Update File: a\n@@\n keep\n-old\n+new secret\n*** Add File: b\n+one\n+two\n*** Delete File: c\n*** End Patch","old_string":"","new_string":"one\ntwo","content":"one\ntwo\n"}`},
		{"patch that deletes", event.Tool{Kind: event.FileEdit, Name: "apply_patch", Writes: []string{"c"}, Input: json.RawMessage(`{"input":"*** Begin Patch\n*** Update File: a\n@@\n keep\n-old\n+new secret\n*** Add File: b\n+one\n+two\n*** Delete File: c\n*** End Patch"}`)},
			`Edit {"file_path":"c","input":"*** Begin Patch\n*** Update File: a\n@@\n keep\n-old\n+new secret\n*** Add File: b\n+one\n+two\n*** Delete File: c\n*** End Patch","old_string":"","new_string":""}`},
		{"grep", event.Tool{Kind: event.Search, Name: "grep", Reads: []string{"src"}, Input: json.RawMessage(`{"query":"x","path":"src"}`)},
			`Grep {"pattern":"x","path":"src"}`},
		{"glob", event.Tool{Kind: event.Search, Name: "glob_files", Input: json.RawMessage(`{"pattern":"*.go"}`)}, `Glob {"pattern":"*.go"}`},
		{"fetch", event.Tool{Kind: event.Fetch, Name: "web", URL: "https://x", Input: json.RawMessage(`{"uri":"https://x"}`)}, `WebFetch {"url":"https://x"}`},
		{"web search", event.Tool{Kind: event.Fetch, Name: "web_search", Input: json.RawMessage(`{"query":"x"}`)}, `WebSearch {"query":"x"}`},
		{"task", event.Tool{Kind: event.Task, Name: "spawn_agent", Input: json.RawMessage(`{"message":"m"}`)}, `Task {"prompt":"m"}`},
		{"mcp", event.Tool{Kind: event.MCP, Name: "srv.t", MCP: &event.MCPCall{Server: "srv", Tool: "t"}, Input: json.RawMessage(`{"a":1}`)}, `mcp__srv__t {"a":1}`},
		{"question", event.Tool{Kind: event.Question, Name: "request_user_input", Input: json.RawMessage(`{"questions":[]}`)}, `AskUserQuestion {"questions":[]}`},
		{"plan", event.Tool{Kind: event.Plan, Name: "exit_plan", Input: json.RawMessage(`{"plan":"p"}`)}, `ExitPlanMode {"plan":"p"}`},
		{"other", event.Tool{Kind: event.OtherTool, Name: "odd", Input: json.RawMessage(`{"x":1}`)}, `odd {"x":1}`},
		{"no input", event.Tool{Kind: event.OtherTool, Name: "odd"}, `odd {}`},
		{"changed", event.Tool{Kind: event.Shell, Name: "sh", Commands: []string{"pwd"}, Input: json.RawMessage(`{"cmd":"ls"}`), Changed: json.RawMessage(`{"cmd":"pwd"}`)}, `Bash {"command":"pwd"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := event.Event{Agent: "any", Kind: event.ToolBefore, Native: "before", Session: "s", Cwd: "/c",
				Tool: &c.tool}
			var got struct {
				Event   string          `json:"hook_event_name"`
				Session string          `json:"session_id"`
				Mode    string          `json:"permission_mode"`
				Name    string          `json:"tool_name"`
				Input   json.RawMessage `json:"tool_input"`
			}
			if err := json.Unmarshal(ClaudeInput(&ev), &got); err != nil {
				t.Fatal(err)
			}
			if got.Event != "PreToolUse" || got.Session != "s" || got.Mode != "default" {
				t.Errorf(`got %+v, want got.Event = "PreToolUse", got.Session = "s" and got.Mode = "default"`, got)
			}
			if s := got.Name + " " + string(got.Input); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

func TestClaudeInputPerKind(t *testing.T) {
	output := &event.Tool{Kind: event.Shell, Name: "sh", CallID: "c1", Commands: []string{"ls"},
		Input: json.RawMessage(`{"command":"ls"}`), Output: json.RawMessage(`"out"`)}
	broken := *output
	broken.Failed = true
	for _, c := range []struct {
		ev   event.Event
		want []string
	}{
		{event.Event{Kind: event.SessionStart, Model: "m"}, []string{`"hook_event_name":"SessionStart"`, `"source":"startup"`, `"model":"m"`}},
		{event.Event{Kind: event.SessionEnd, Detail: "clear"}, []string{`"hook_event_name":"SessionEnd"`, `"reason":"clear"`}},
		{event.Event{Kind: event.TurnStart, Prompt: "do <it>"}, []string{`"hook_event_name":"UserPromptSubmit"`, `"prompt":"do <it>"`}},
		{event.Event{Kind: event.TurnEnd, GoingOn: true, Message: "done"}, []string{`"hook_event_name":"Stop"`, `"stop_hook_active":true`, `"last_assistant_message":"done"`}},
		{event.Event{Kind: event.TurnEnd, Error: "rate limit"}, []string{`"hook_event_name":"StopFailure"`, `"error":"rate limit"`}},
		{event.Event{Kind: event.SubagentEnd, Subagent: &event.Subagent{ID: "a", Type: "t"}}, []string{`"hook_event_name":"SubagentStop"`, `"agent_id":"a"`, `"agent_type":"t"`, `"stop_hook_active":false`}},
		{event.Event{Kind: event.ToolAfter, Tool: output}, []string{`"hook_event_name":"PostToolUse"`, `"tool_use_id":"c1"`, `"tool_response":{"stdout":"out","stderr":""`}},
		{event.Event{Kind: event.ToolAfter, Tool: &broken}, []string{`"hook_event_name":"PostToolUseFailure"`, `"error":"out"`}},
		{event.Event{Kind: event.PermissionRequest, Tool: output, Mode: "plan"}, []string{`"hook_event_name":"PermissionRequest"`, `"tool_name":"Bash"`, `"permission_mode":"plan"`}},
		{event.Event{Kind: event.CompactBefore, Detail: "manual"}, []string{`"hook_event_name":"PreCompact"`, `"trigger":"manual"`}},
		{event.Event{Kind: event.CompactAfter}, []string{`"hook_event_name":"PostCompact"`, `"trigger":"auto"`}},
		{event.Event{Kind: event.UserAttention, Message: "m", Detail: "idle_prompt"}, []string{`"hook_event_name":"Notification"`, `"notification_type":"idle_prompt"`}},
		{event.Event{Kind: event.UserQuestion, Message: "m"}, []string{`"hook_event_name":"Elicitation"`, `"message":"m"`}},
		{event.Event{Kind: event.FileChanged, Message: "f"}, []string{`"hook_event_name":"FileChanged"`, `"file_path":"f"`}},
		{event.Event{Kind: event.ModelBefore, Native: "PreModelRequest"}, []string{`"hook_event_name":"PreModelRequest"`}},
	} {
		got := ClaudeInput(&c.ev)
		if !json.Valid(got) {
			t.Errorf("%s: not JSON: %s; want json.Valid(got)", c.ev.Kind, got)
		}
		for _, part := range c.want {
			if !strings.Contains(string(got), part) {
				t.Errorf("%s: %s lacks %s; want part in string(got)", c.ev.Kind, got, part)
			}
		}
	}
}

func TestClaudeItselfIsNotTranslated(t *testing.T) {
	raw := "{\n  \"tool_name\": \"Bash\", \"odd\": 1, \"tool_input\": {\"command\": \"ls\"}\n}"
	ev := event.Event{Agent: "claude", Kind: event.ToolBefore, Native: "PreToolUse", Raw: []byte(raw),
		Tool: &event.Tool{Kind: event.Shell, Name: "Bash", Commands: []string{"ls"},
			Input: json.RawMessage(`{"command": "ls"}`)}}
	if got := string(ClaudeInput(&ev)); got != raw {
		t.Errorf("changed: %s, want %s", got, raw)
	}
	ev.Tool.Changed = json.RawMessage(`{"command":"pwd"}`)
	if got := string(ClaudeInput(&ev)); got != `{"tool_name":"Bash","odd":1,"tool_input":{"command":"pwd"}}` {
		t.Errorf("input not put in: %s", got)
	}
}

func TestTranslateBack(t *testing.T) {
	shell := func(input string) event.Tool {
		return event.Tool{Kind: event.Shell, Name: "exec", Commands: []string{"ls"}, Input: json.RawMessage(input)}
	}
	for _, c := range []struct {
		name, updated, want, fails string
		tool                       event.Tool
	}{
		{name: "same key", tool: shell(`{"command":"ls"}`), updated: `{"command":"pwd"}`, want: `{"command":"pwd"}`},
		{name: "other key", tool: shell(`{"cmd":"ls","n":1}`), updated: `{"command":"pwd","n":1}`, want: `{"cmd":"pwd"}`},
		{name: "key beside", tool: shell(`{"cmd":"ls","n":1}`), updated: `{"command":"ls","n":2}`, want: `{"n":2}`},
		{name: "list", tool: shell(`{"command":["bash","-lc","ls"]}`), updated: `{"command":"a <b>"}`, want: `{"command":["bash","-lc","a <b>"]}`},
		{name: "deep", tool: shell(`{"x":{"y":[{"z":"ls","k":1.50}]}}`), updated: `{"command":"pwd"}`, want: `{"x":{"y":[{"k":1.50,"z":"pwd"}]}}`},
		{name: "nothing changed", tool: shell(`{"cmd":"ls"}`), updated: `{ "command" : "l\u0073" }`, want: ``},
		{name: "unknown key", tool: shell(`{"cmd":"ls"}`), updated: `{"command":"ls","timeout":5}`, fails: `"timeout"`},
		{name: "own key of the agent", tool: shell(`{"cmd":"ls"}`), updated: `{"cmd":"pwd"}`, want: `{"cmd":"pwd"}`},
		{name: "edit", tool: event.Tool{Kind: event.FileEdit, Name: "edit", Writes: []string{"a"}, Input: json.RawMessage(`{"filePath":"a","oldString":"x","newString":"y"}`)},
			updated: `{"file_path":"b","old_string":"x","new_string":"z"}`, want: `{"filePath":"b","newString":"z"}`},
		{name: "worked-out file", tool: event.Tool{Kind: event.FileEdit, Name: "apply_patch", Writes: []string{"a"}, Input: json.RawMessage(`{"command":"*** Begin"}`)},
			updated: `{"file_path":"b","command":"*** Begin"}`, fails: `"file_path"`},
		{name: "text of a patch", tool: event.Tool{Kind: event.FileEdit, Name: "apply_patch", Writes: []string{"a"}, Input: json.RawMessage(`{"command":"*** Begin Patch\n*** Update File: a\n@@\n keep\n-old\n+new secret\n*** Add File: b\n+one\n+two\n*** Delete File: c\n*** End Patch"}`)},
			updated: `{"file_path":"a","old_string":"keep\nold","new_string":"other"}`, fails: `"new_string"`},
		{name: "patch itself", tool: event.Tool{Kind: event.FileEdit, Name: "apply_patch", Writes: []string{"a"}, Input: json.RawMessage(`{"command":"*** Begin"}`)},
			updated: `{"file_path":"a","command":"*** Other"}`, want: `{"command":"*** Other"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := inClaudesWords(&c.tool, c.tool.CurrentInput(), firstText(subjectsOf(&c.tool)))
			d := event.Decision{Verdict: event.Modify, Allowed: true, Input: json.RawMessage(c.updated)}
			err := p.translateBack(&d)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("error %v, want one with %s", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(d.Input) != c.want {
				t.Errorf("got %s, want %s", d.Input, c.want)
			}
			if c.want == "" && (d.Verdict != event.Allow || d.Allowed) {
				t.Errorf("no change left: %+v", d)
			}
		})
	}
}
