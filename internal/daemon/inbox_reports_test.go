package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/wire"
)

// cmux's list shows beside the requests what agents reported, as cmux itself does:
// prompts, calls, results, to-do lists, ends. A list of what is pending has requests
// alone.
func TestCmuxListHasReports(t *testing.T) {
	w := open(t)
	say := func(event string, payload map[string]any) {
		payload["session_id"], payload["cwd"], payload["hook_event_name"] = "s1", "/repo", event
		w.MustPass(daemontest.SessionEvent("claude", event, payload))
	}
	tool := func(name string, input map[string]any) map[string]any {
		return map[string]any{"tool_name": name, "tool_input": input, "tool_use_id": name}
	}
	todos := map[string]any{"todos": []any{
		map[string]any{"content": "write", "status": "completed"},
		map[string]any{"content": "test", "status": "in_progress", "id": 7},
		map[string]any{"content": "ship", "status": "pending", "id": "last"},
	}}
	say("SessionStart", map[string]any{"source": "startup"})
	say("UserPromptSubmit", map[string]any{"prompt": "build it"})
	say("PreToolUse", tool("TodoWrite", todos))
	say("PreToolUse", tool("Bash", map[string]any{"command": "make"}))
	failed := tool("Bash", map[string]any{"command": "make"})
	failed["error"] = "exit code 2"
	say("PostToolUseFailure", failed)
	say("Stop", map[string]any{"last_assistant_message": "it does not build"})
	say("SessionEnd", map[string]any{"reason": "other"})

	want := []string{
		"sessionStart", "userPrompt build it", "todos [1 write completed 7 test inProgress last ship pending]",
		`toolUse Bash {"command":"make"}`, "toolResult Bash error exit code 2", "stop it does not build", "sessionEnd",
	}
	await.Until(t, "every report in the list", func() bool { return len(reportLines(t, w)) >= len(want) })
	if got := reportLines(t, w); !slices.Equal(got, want) {
		t.Errorf("the list has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	list, _ := w.cmux(wire.MethodCmuxList, map[string]any{"pending_only": true})
	if strings.Contains(string(list), "telemetry") {
		t.Errorf("the list of what is pending has reports: %s", list)
	}
}

// What cmux's own plugin for OpenCode pushes keeps its session, its prompt and its tasks.
func TestReportsOfCmuxPlugins(t *testing.T) {
	w := open(t)
	push := func(name string, more map[string]any) {
		e := map[string]any{"session_id": "opencode-wz", "_source": "opencode", "cwd": "/repo", "hook_event_name": name}
		for k, v := range more {
			e[k] = v
		}
		if got, code := w.cmux(wire.MethodCmuxPush, map[string]any{"event": e, "wait_timeout_seconds": 0}); code != "" {
			t.Fatalf("%s: %s %s", name, got, code)
		}
	}
	push("UserPromptSubmit", map[string]any{"tool_input": map[string]any{"prompt": "first"}})
	push("UserPromptSubmit", map[string]any{"context": map[string]any{"lastUserMessage": "second"}})
	push("TodoWrite", map[string]any{"tool_input": []any{map[string]any{"content": "step 1", "status": "pending"}}})
	push("Stop", nil)
	var raw json.RawMessage
	await.Until(t, "every report in the list", func() bool {
		raw, _ = w.cmux(wire.MethodCmuxList, map[string]any{})
		return strings.Count(string(raw), `"workstream_id":"opencode-wz"`) >= 4
	})
	for _, want := range []string{`"text":"first"`, `"text":"second"`, `"kind":"todos"`, `"content":"step 1"`, `"kind":"stop"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the list lacks %s: %s", want, raw)
		}
	}
}

// reportLines returns the reports in cmux's list, a line each.
func reportLines(t *testing.T, w *daemonFixture) (lines []string) {
	t.Helper()
	raw, code := w.cmux(wire.MethodCmuxList, map[string]any{})
	var list struct {
		Items []struct {
			Kind, Status, Text, Reason, Source, Cwd string
			WorkstreamID                            string `json:"workstream_id"`
			ToolName                                string `json:"tool_name"`
			ToolInput                               string `json:"tool_input"`
			ToolResult                              string `json:"tool_result"`
			Failed                                  bool   `json:"tool_result_is_error"`
			Todos                                   []struct{ ID, Content, State string }
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil || code != "" {
		t.Fatalf("the list is %s, %s: %v", raw, code, err)
	}
	for _, one := range list.Items {
		if one.Status != "telemetry" || one.Source != "claude" || one.WorkstreamID != "claude-s1" || one.Cwd != "/repo" {
			t.Errorf("got %+v, want a report of claude-s1 in /repo", one)
		}
		line := one.Kind
		for _, text := range []string{one.Text, one.Reason} {
			if text != "" {
				line += " " + text
			}
		}
		switch {
		case one.Todos != nil:
			var all []string
			for _, todo := range one.Todos {
				all = append(all, todo.ID, todo.Content, todo.State)
			}
			line += fmt.Sprint(" ", all)
		case one.ToolInput != "":
			line += " " + one.ToolName + " " + one.ToolInput
		case one.Failed:
			line += " " + one.ToolName + " error " + one.ToolResult
		}
		lines = append(lines, line)
	}
	return lines
}
