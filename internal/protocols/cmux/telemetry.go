package cmux

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// Journal has the events that agents reported.
type Journal interface {
	NewestEvents(ctx context.Context, limit int) ([]event.Event, error)
}

const (
	// maxTelemetry is how many reports cmux's list has in addition to the requests: as
	// many as cmux loads.
	maxTelemetry = 300
	// telemetryWait is how long the journal may take; the requests don't wait for it.
	telemetryWait = 2 * time.Second
)

// telemetryItems returns what agents reported, in cmux's format: prompts, tool calls and
// their results, to-do lists, ends of turns and sessions. None of them can be answered.
// Without a journal there are none.
func (s *Server) telemetryItems() []map[string]any {
	ctx, cancel := context.WithTimeout(context.Background(), telemetryWait)
	defer cancel()
	events, err := s.Journal.NewestEvents(ctx, maxTelemetry)
	if err != nil {
		s.Log.Warn("cmux's list holds requests only", "error", err)
		return nil
	}
	var items []map[string]any
	for i := range events {
		if kind, words := telemetryWords(&events[i]); kind != "" {
			items = append(items, telemetryItem(&events[i], kind, words))
		}
	}
	return items
}

func telemetryItem(ev *event.Event, kind string, words map[string]string) map[string]any {
	out := map[string]any{
		"id": ev.ID, "workstream_id": ev.Agent + "-" + ev.Session, "source": ev.Agent, "kind": kind,
		"status": "telemetry", "created_at": ev.Time, "updated_at": ev.Time, "title": ev.Native,
	}
	if ev.Cwd != "" {
		out["cwd"] = ev.Cwd
	}
	for key, text := range words {
		cut := termsafe.CutBytes(text, longText)
		if cut != text {
			out[key+"_truncated"], out[key+"_length"] = true, strconv.Itoa(len(text))
		}
		out[key] = cut
	}
	if t := ev.Tool; t != nil {
		out["title"], out["tool_name"] = t.Name, t.Name
		if kind == "toolResult" {
			out["tool_result_is_error"] = t.Failed
		}
	}
	input := json.RawMessage(nil)
	switch {
	case ev.Native == pushedTodos:
		input = jsontext.Get(ev.Raw, "tool_input")
	case ev.Tool != nil:
		input = ev.Tool.Input
	}
	if todos := todoList(input); kind == "toolUse" && todos != nil {
		out["kind"], out["todos"] = "todos", todos
		delete(out, "tool_input")
	}
	return out
}

// telemetryWords returns cmux's kind of a report and the texts that belong to it; "" for
// what cmux has no kind for, and for what is in the list as a request.
func telemetryWords(ev *event.Event) (kind string, words map[string]string) {
	switch ev.Kind {
	case event.SessionStart:
		return "sessionStart", nil
	case event.SessionEnd:
		return "sessionEnd", nil
	case event.TurnStart:
		return "userPrompt", map[string]string{"text": cmp.Or(ev.Prompt, pushedPrompt(ev.Raw))}
	case event.TurnEnd:
		return "stop", map[string]string{"reason": cmp.Or(ev.Error, ev.Message, ev.Detail)}
	case event.ToolBefore, event.CompactBefore, event.SubagentStart:
		words = map[string]string{}
		if ev.Tool != nil {
			words["tool_input"] = string(ev.Tool.Input)
		}
		return "toolUse", words
	case event.ToolAfter, event.CompactAfter, event.SubagentEnd, event.UserAttention:
		text := ev.Message
		if ev.Tool != nil {
			text = string(ev.Tool.Output)
		}
		return "toolResult", map[string]string{"tool_result": cmp.Or(text, ev.Error)}
	}
	if ev.Native == pushedTodos {
		return "toolUse", nil
	}
	return "", nil
}

// pushedTodos is the name of cmux's plugins for the report of a list of tasks.
const pushedTodos = "TodoWrite"

// pushedPrompt returns the prompt in an event as cmux's plugins push it.
func pushedPrompt(payload []byte) string {
	words, _ := jsontext.String(jsontext.Get(payload, "tool_input", "prompt"))
	said, _ := jsontext.String(jsontext.Get(payload, "context", "lastUserMessage"))
	return cmp.Or(words, said)
}

// todoList reads the agent's own list from the input of a tool that writes one;
// nil for every other input.
func todoList(input json.RawMessage) []map[string]any {
	type entry struct {
		ID      json.RawMessage `json:"id"`
		Content string          `json:"content"`
		Step    string          `json:"step"`
		Status  string          `json:"status"`
	}
	var list struct {
		Todos []entry `json:"todos"`
		Plan  []entry `json:"plan"`
	}
	// cmux's plugin for OpenCode sends the tasks alone.
	if json.Unmarshal(input, &list) != nil && json.Unmarshal(input, &list.Todos) != nil {
		return nil
	}
	var todos []map[string]any
	for i, one := range slices.Concat(list.Todos, list.Plan) {
		text := cmp.Or(one.Content, one.Step)
		if text == "" {
			return nil // something else of that name
		}
		id := string(one.ID)
		if json.Unmarshal(one.ID, &id) != nil || id == "" {
			id = cmp.Or(string(one.ID), strconv.Itoa(i+1))
		}
		todos = append(todos, map[string]any{
			"id": id, "content": termsafe.CutBytes(text, shortText), "state": todoState(one.Status),
		})
	}
	return todos
}

func todoState(status string) string {
	switch status {
	case "completed", "done":
		return "completed"
	case "in_progress", "in-progress", "inProgress", "active":
		return "inProgress"
	}
	return "pending"
}
