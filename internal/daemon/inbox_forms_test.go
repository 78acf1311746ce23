package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// Forms of MCP servers: what does not fit is said while the request waits, an
// address can only be refused or left to the agent, and it waits only briefly
// because the agent's own form is hidden meanwhile.
func TestForms(t *testing.T) {
	w := open(t)
	w.watchInbox()
	form := daemontest.SessionEvent("claude", "Elicitation", map[string]any{"mcp_server_name": "m", "message": "How many?",
		"mode": "form", "requested_schema": map[string]any{
			"type": "object", "required": []string{"n"},
			"properties": map[string]any{"n": map[string]any{"type": "integer", "description": "How many?"}}}})
	call := w.startCall(form)
	item := w.waiting()
	if item.Kind != "question" || strings.Join(item.Choices, " ") != "answer deny" ||
		time.Until(item.Deadline) > 3*time.Minute {
		t.Errorf(`item = %+v, want item.Kind = "question", strings.Join(item.Choices, " ") = "answer deny" and `+
			`time.Until(item.Deadline) at most 3 * time.Minute`, item)
	}
	wrong := wire.InboxReplyParams{ID: item.ID, Choice: "answer", Answers: []event.QuestionAnswer{{Text: "many"}}}
	if err := w.Call(wire.MethodInboxReply, wrong, nil); err == nil ||
		!strings.Contains(err.Error(), "not filled with what it takes") {
		t.Errorf(`error %v, want an error and "not filled with what it takes" in err.Error()`, err)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "answer", Answers: []event.QuestionAnswer{{Text: "3"}}})
	if got, _ := call.answer(); !strings.Contains(got, `"action":"accept","content":{"n":3}`) {
		t.Errorf(`call.answer() = %q, want "action":"accept","content":{"n":3} in it`, got)
	}
	address := daemontest.SessionEvent("claude", "Elicitation",
		map[string]any{"mcp_server_name": "m", "message": "Sign in", "mode": "url", "url": "https://x.invalid/a",
			"elicitation_id": "1"})
	call = w.startCall(address)
	item = w.waiting()
	if strings.Join(item.Choices, " ") != "deny" || !strings.Contains(item.Shown, "https://x.invalid/a") {
		t.Errorf(`item = %+v, want strings.Join(item.Choices, " ") = "deny" and "https://x.invalid/a" in item.Shown`,
			item)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny"})
	if got, _ := call.answer(); !strings.Contains(got, `"action":"decline"`) {
		t.Errorf(`call.answer() = %q, want "action":"decline" in it`, got)
	}
}

// Codex tells of a question at one event only, so that it is asked about
// without any setting; the answer is a refusal that holds it.
func TestQuestionOfCodex(t *testing.T) {
	w := open(t)
	w.watchInbox()
	call := w.startCall(daemontest.SessionEvent("codex", "PreToolUse",
		map[string]any{"tool_name": "request_user_input", "tool_input": map[string]any{"questions": []any{
			map[string]any{"id": "db", "header": "DB", "question": "Which?",
				"options": []any{map[string]any{"label": "a"}, map[string]any{"label": "b"}}}}}}))
	item := w.waiting()
	if item.Kind != "question" {
		t.Errorf(`item = %+v, want item.Kind = "question"`, item)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "answer",
		Answers: []event.QuestionAnswer{{Options: []string{"b"}}}})
	if got, _ := call.answer(); !strings.Contains(got, `"permissionDecision":"deny"`) ||
		!strings.Contains(got, `\"Which?\" = \"b\"`) {
		t.Errorf(`call.answer() = %q, want "permissionDecision":"deny" in it and \"Which?\" = \"b\" in it`, got)
	}
}
