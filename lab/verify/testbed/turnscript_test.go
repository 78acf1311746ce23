package testbed

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

func TestWantNamesWhatIsUnmet(t *testing.T) {
	e := &Evidence{
		Files: map[string]string{"ran-a": ""}, Told: []model.Message{{Role: "user", Text: "some words"}}, Exit: 1,
		Seen: []Seen{{Event: event.Event{Native: "PreToolUse", Kind: event.ToolBefore,
			Tool: &event.Tool{Commands: []string{TaggedCommand("a")}}}}, {Event: event.Event{Kind: event.TurnEnd}}},
	}
	e.Seen[0].Event.Tool.Kind = event.Question
	well := Want{Files: []string{"ran-a"}, NoFiles: []string{"ran-b"}, Told: []string{"some"},
		NotTold: []string{"other"},
		Events:  []event.Kind{event.ToolBefore, event.TurnEnd}, Tools: []event.ToolKind{event.Question},
		Exit: ExitsWith(1)}
	if unmet := well.Unmet(e); len(unmet) > 0 {
		t.Errorf("well.Unmet(e) = %q, want none", unmet)
	}
	for _, w := range []Want{
		{Files: []string{"ran-b"}}, {NoFiles: []string{"ran-a"}}, {Told: []string{"other"}}, {NotTold: []string{"some"}},
		{Events: []event.Kind{event.TurnEnd, event.ToolBefore}}, {Tools: []event.ToolKind{event.Plan}}, {Exit: ExitsWith(0)},
	} {
		if len(w.Unmet(e)) != 1 {
			t.Errorf("%+v: w.Unmet(e) = %q, want 1 of them", w, w.Unmet(e))
		}
	}
	if (Want{Exit: ExitsWith(0)}).Unmet(&Evidence{}) != nil {
		t.Error("an exit code of zero is no failure")
	}
}

// The model server speaks a turn script: question, plan, helper and MCP tool come out
// of it as the calls of the agent.
func TestTurnScriptReachesTheModel(t *testing.T) {
	st := newTestBed(t, "claude", nil, nil)
	err := st.SetTurnScript(TurnScript{
		Steps: []model.ScriptStep{
			{Question: &model.Question{Header: "Colour", Text: "Which colour?", Options: []string{"red", "blue"}}},
			{Plan: "First this, then that."}, {Subagent: "sub"},
			{MCP: &model.MCP{Server: "lab", Tool: "echo", Input: map[string]any{"text": "hi"}}}, {Say: LastWords},
		},
		Named: map[string][]model.ScriptStep{"sub": SubSteps},
	})
	if err != nil {
		t.Fatal(err)
	}
	messages := []any{map[string]any{"role": "user", "content": MarkedPrompt("Run it")}}
	for _, want := range []string{"AskUserQuestion", "ExitPlanMode", "Agent", "mcp__lab__echo", LastWords} {
		body, _ := json.Marshal(map[string]any{"model": "m", "max_tokens": 10, "messages": messages, "tools": []any{
			map[string]any{"name": "AskUserQuestion", "input_schema": map[string]any{"type": "object"}}}})
		r, err := http.Post(st.Model.URL(st.Run)+"/v1/messages", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || !strings.Contains(string(text), want) {
			t.Fatalf("no %s in %s %v; want no error and want in string(text)", want, text, err)
		}
		var said struct{ Content []map[string]any }
		if err := json.Unmarshal(text, &said); err != nil {
			t.Fatal(err)
		}
		messages = append(messages, map[string]any{"role": "assistant", "content": said.Content})
		for _, c := range said.Content {
			if c["type"] == "tool_use" {
				messages = append(messages, map[string]any{"role": "user",
					"content": []any{map[string]any{"type": "tool_result", "tool_use_id": c["id"], "content": "done"}}})
			}
		}
	}
}
