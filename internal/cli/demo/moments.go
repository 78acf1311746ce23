package demo

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// moment is one session: what its agent sends, in the agent's own format. The members of the
// payloads were recorded from the real agents; what they work on was written for the demo.
type moment struct {
	agent, id, folder string
	common            map[string]any // members of every payload
	steps             []step
}

// step is one hook call.
type step struct {
	after  time.Duration
	event  string
	fields map[string]any
	asks   bool // the answer decides what follows
	// unless says that this happens only if the last request was denied; other
	// steps happen only if it was allowed.
	unless bool
}

// hookDeadline is how long the agents of the demo wait.
const hookDeadline = time.Hour

func (s moment) request(st step) frame.Request {
	payload := map[string]any{"session_id": s.id, "cwd": s.folder, "hook_event_name": st.event}
	for _, members := range []map[string]any{s.common, st.fields} {
		for key, value := range members {
			payload[key] = value
		}
	}
	text, err := json.Marshal(payload)
	if err != nil {
		panic(err) // maps of strings, numbers and lists
	}
	return frame.Request{ID: frame.NewID(), Agent: s.agent, Event: st.event, Cwd: s.folder, Version: version.String,
		Deadline: hookDeadline, Payload: text}
}

// isYes returns how the agent takes an answer: one that says nothing leaves the question to
// the agent's own prompt, which no one answers in a demo.
func (s moment) isYes(reply frame.Reply) bool {
	return bytes.Contains(reply.Stdout, []byte(`"allow"`)) && !bytes.Contains(reply.Stdout, []byte(`"deny"`))
}

type members = map[string]any

// shellCall returns a call of an agent's shell tool, with its question and its end.
func shellCall(think time.Duration, n int, command, output string, extra members) []step {
	input := members{"command": command}
	for key, value := range extra {
		input[key] = value
	}
	call := members{"tool_name": "Bash", "tool_input": input, "tool_use_id": "call_" + strconv.Itoa(n)}
	ask := members{"tool_name": "Bash", "tool_input": input}
	done := members{"tool_name": "Bash", "tool_input": input, "tool_use_id": "call_" + strconv.Itoa(n),
		"tool_response": members{"stdout": output, "stderr": "", "interrupted": false}}
	return []step{
		{after: think, event: "PreToolUse", fields: call},
		{after: 200 * time.Millisecond, event: "PermissionRequest", fields: ask, asks: true},
		{after: 1500 * time.Millisecond, event: "PostToolUse", fields: done},
	}
}

// quietCall returns a call that isn't asked about.
func quietCall(think time.Duration, n int, tool string, input members, output string, took time.Duration) []step {
	call := members{"tool_name": tool, "tool_input": input, "tool_use_id": "call_" + strconv.Itoa(n)}
	done := members{"tool_name": tool, "tool_input": input, "tool_use_id": "call_" + strconv.Itoa(n),
		"tool_response": members{"stdout": output, "stderr": "", "interrupted": false}}
	return []step{{after: think, event: "PreToolUse", fields: call}, {after: took, event: "PostToolUse", fields: done}}
}

func prompt(after time.Duration, text string) []step {
	return []step{
		{event: "SessionStart", fields: members{"source": "startup"}},
		{after: after, event: "UserPromptSubmit", fields: members{"prompt": text}},
	}
}

func stop(after time.Duration, words string, refused bool) step {
	return step{after: after, event: "Stop", unless: refused,
		fields: members{"stop_hook_active": false, "last_assistant_message": words}}
}

func join(parts ...[]step) []step {
	var all []step
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// moments returns the sessions of the demo, in folders below a home that need not exist.
func moments(home string) []moment {
	const second, ms = time.Second, time.Millisecond
	at := func(name string) string { return filepath.Join(home, name) }
	claude := members{"permission_mode": "default"}
	codex := members{"permission_mode": "default", "model": "gpt-5.5",
		"turn_id": "01a1dcf6-b230-7920-a9d5-83361214c1a1"}
	return []moment{
		{agent: "claude", id: "c5acb495-0d3e-4a53-9b0c-6a3f4f1a0001", folder: at("shop"), common: claude, steps: join(
			prompt(0, "Fix the flaky payment test"),
			quietCall(100*ms, 1, "Read", members{"file_path": at("shop/test/payment.test.ts")}, "", 200*ms),
			quietCall(200*ms, 2, "Bash", members{"command": "npm test -- payment"},
				"11 passing\n1 failing\n  payment: expected 'paid', got 'pending'", 300*ms),
			quietCall(200*ms, 3, "Edit", members{"file_path": at("shop/test/payment.test.ts"),
				"old_string": "await pay(order)", "new_string": "await pay(order)\nawait webhook('paid', order.id)"}, "", 300*ms),
			shellCall(second, 4, "npm test -- payment",
				"12 passing", members{"description": "Run the payment tests"}),
			[]step{stop(2*second, "The test waits for the webhook now. It passed 20 times in a row.", false),
				stop(second, "I left the test as it is.", true)})},
		{agent: "codex", id: "01a1dcf6-ab3d-7530-98a4-bb227d095116", folder: at("parser"), common: codex, steps: join(
			prompt(0, "Upgrade the parser"),
			quietCall(second, 1, "Bash", members{"command": "rg -n 'Token' src | head -3"},
				"src/lexer.c:41: Token next(Lexer *l)\nsrc/parser.c:17: static Token peek\nsrc/parser.c:88: expect(Token kind)", second),
			quietCall(second, 2, "Bash", members{"command": "tail -1 grammar/v2.y"}, "statement: expression ';' ;", second),
			quietCall(second, 3, "Bash", members{"command": "make -j8"},
				"lexer.c: undefined reference to `yylex_v1'\nmake: *** [all] Error 1", second),
			shellCall(second, 4, "rm -rf build && make -j8 all", "built", members{"description": "Clean build"}),
			[]step{stop(3*second, "The new parser passes all tests.", false),
				stop(second, "Without a clean build I cannot check the upgrade.", true)})},
		{agent: "claude", id: "4f5f77f8-60ce-45d8-9a9e-edeaa253d8a4", folder: at("api"), common: claude, steps: join(
			prompt(second, "Add a cache to the product list"),
			quietCall(second, 1, "Bash", members{"command": "rg -n 'load\\(id\\)'"}, "products.go:41: return load(id)", second),
			quietCall(second, 2, "Read", members{"file_path": at("api/products.go")}, "", second),
			[]step{{after: 2 * second, event: "PermissionRequest", asks: true, fields: members{
				"tool_name": "AskUserQuestion", "tool_input": members{"questions": []any{members{
					"question": "Where should the cache live?", "header": "Cache", "multiSelect": false,
					"options": []any{members{"label": "In memory", "description": "Simple, lost at a restart"},
						members{"label": "Redis", "description": "Shared by all servers"}}}}}}}},
			quietCall(second, 3, "Edit", members{"file_path": at("api/products.go"), "old_string": "return load(id)",
				"new_string": "return cached(id, load)"}, "", 2*second),
			[]step{stop(2*second, "The product list is cached for a minute.", false),
				stop(second, "I did not add a cache.", true)})},
		{agent: "claude", id: "f25dc476-c0c8-470c-8d12-4a1ca8cf1f3a", folder: at("infra"),
			common: members{"permission_mode": "plan"}, steps: join(
				prompt(2*second, "Plan the move to the new database"),
				quietCall(second, 1, "Read", members{"file_path": at("infra/database.tf")}, "", second),
				quietCall(second, 2, "Bash", members{"command": "psql -c '\\dt+' shop"},
					"orders    table  41 GB\nproducts  table  310 MB\npayments  table  12 GB", second),
				[]step{{after: 5 * second, event: "PermissionRequest", asks: true, fields: members{
					"tool_name": "ExitPlanMode", "tool_input": members{"plan": "# Move to the new database\n\n" +
						"1. Copy the schema and check it with `pg_dump --schema-only`\n2. Write to both for a week\n" +
						"3. Compare row counts every night\n4. Read from the new one, then stop the old one\n"}}}},
				[]step{stop(3*second, "The schema is copied; the check found no difference.", false),
					stop(second, "I keep planning.", true)})},
		{agent: "gemini", id: "d1fd67bf-ece6-487d-a33d-1de4f5c25f75", folder: at("docs"), steps: []step{
			{event: "SessionStart", fields: members{"source": "startup"}},
			{after: second, event: "BeforeAgent", fields: members{"prompt": "Translate the guide into German"}},
			{after: second, event: "BeforeTool", fields: members{"tool_name": "read_file",
				"tool_input": members{"file_path": at("docs/guide.md")}}},
			{after: 8 * second, event: "AfterTool", fields: members{"tool_name": "read_file",
				"tool_input":    members{"file_path": at("docs/guide.md")},
				"tool_response": members{"llmContent": "# Guide", "returnDisplay": ""}}},
			{after: 2 * second, event: "AfterAgent", fields: members{"prompt": "Translate the guide into German",
				"prompt_response":  "The guide is translated; two screenshots still show English.",
				"stop_hook_active": false}},
		}},
	}
}
