package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// responsesAPI is OpenAI Responses.
var responsesAPI = api{
	name:  "responses",
	match: func(_, path string) bool { return strings.HasSuffix(path, "/responses") },
	parse: parseResponses,
	reply: replyResponses,
	fail:  openAIError,
}

// openAIError returns the error body of both OpenAI APIs.
func openAIError(f Fail) any {
	kind := f.Type
	if kind == "" {
		kind = map[int]string{401: "invalid_request_error", 429: "rate_limit_exceeded"}[f.Status]
	}
	if kind == "" {
		kind = "server_error"
	}
	return obj{"error": obj{"type": kind, "code": kind, "message": f.Message, "param": nil}}
}

func parseResponses(body []byte, _ string) (conversation, error) {
	var b struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"parameters"`
		} `json:"tools"`
		ToolChoice json.RawMessage `json:"tool_choice"`
		Text       struct {
			Format *jsonFormat `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return conversation{}, fmt.Errorf("not a Responses request: %w", err)
	}
	c := conversation{model: b.Model, stream: b.Stream, schema: firstSchema(b.Text.Format),
		forced: forcedTool(b.ToolChoice)}
	for _, t := range b.Tools {
		name := t.Name
		if name == "" {
			name = t.Type // built-in tools have no name of their own
		}
		c.tools = append(c.tools, offer{name, t.Schema})
	}
	if b.Instructions != "" {
		c.messages = append(c.messages, textMessage(RoleSystem, b.Instructions))
	}
	var items []responseItem
	if json.Unmarshal(b.Input, &items) != nil {
		var text string
		if err := json.Unmarshal(b.Input, &text); err != nil {
			return conversation{}, fmt.Errorf("not a Responses request: input is neither a list nor a text")
		}
		c.messages = append(c.messages, textMessage(RoleUser, text))
	}
	for _, it := range items {
		c.messages = append(c.messages, it.messages()...)
	}
	return c, nil
}

type responseItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
}

func (it responseItem) messages() []Message {
	switch {
	case strings.HasSuffix(it.Type, "_call_output"):
		return []Message{{Role: RoleTool, Kind: KindToolResult, Text: textOf(it.Output), ToolCallID: it.CallID}}
	case strings.HasSuffix(it.Type, "_call"):
		return []Message{{Role: RoleAssistant, Kind: KindToolCall, Text: it.Arguments + it.Input, ToolCallID: it.CallID,
			ToolName: it.Name}}
	case it.Role == "":
		return nil // reasoning and other items that say nothing
	}
	var out []Message
	for _, p := range parts(it.Content) {
		if p.Text != "" {
			out = append(out, textMessage(it.Role, p.Text))
		}
	}
	return out
}

func replyResponses(out *output, r reply) {
	id := func(kind string, n int) string { return fmt.Sprintf("%s_hmx%04d_%d", kind, r.turn, n) }
	var items []obj
	if r.text != "" {
		items = append(items, obj{"type": "message", "id": id("msg", 0), "role": "assistant", "status": "completed",
			"content": []obj{outputText(r.text)}})
	}
	for i, c := range r.calls {
		it := obj{"type": "function_call", "id": id("fc", i), "call_id": c.id, "name": c.Name,
			"arguments": compact(c.input()), "status": "completed"}
		if c.Custom {
			it = obj{"type": "custom_tool_call", "id": id("ctc", i), "call_id": c.id, "name": c.Name, "input": c.free(),
				"status": "completed"}
		}
		if c.Namespace != "" {
			it["namespace"] = c.Namespace
		}
		items = append(items, it)
	}
	whole := func(status string, output []obj, usage any) obj {
		return obj{"id": id("resp", 0), "object": "response", "created_at": 1700000000, "status": status,
			"model": r.model, "output": output, "usage": usage,
			"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": obj{},
			"parallel_tool_calls": true, "tool_choice": "auto", "tools": []obj{}}
	}
	done := whole("completed", items, obj{"input_tokens": r.inputTokens,
		"input_tokens_details": obj{"cached_tokens": 0},
		"output_tokens":        20, "output_tokens_details": obj{"reasoning_tokens": 0}, "total_tokens": r.inputTokens +
			20})
	if !out.stream {
		out.whole(done)
		return
	}
	seq := 0
	ev := func(kind string, v obj) {
		v["type"], v["sequence_number"] = kind, seq
		seq++
		out.event(kind, v)
	}
	ev("response.created", obj{"response": whole("in_progress", []obj{}, nil)})
	ev("response.in_progress", obj{"response": whole("in_progress", []obj{}, nil)})
	for i, it := range items {
		begun := obj{}
		for k, v := range it {
			begun[k] = v
		}
		begun["status"] = "in_progress"
		at := func(more obj) obj { more["item_id"], more["output_index"] = it["id"], i; return more }
		switch it["type"] {
		case "message":
			begun["content"] = []obj{}
			ev("response.output_item.added", obj{"output_index": i, "item": begun})
			ev("response.content_part.added", at(obj{"content_index": 0, "part": outputText("")}))
			out.pieces(r.text, func(s string) {
				ev("response.output_text.delta", at(obj{"content_index": 0, "delta": s, "logprobs": []obj{}}))
			})
			ev("response.output_text.done", at(obj{"content_index": 0, "text": r.text, "logprobs": []obj{}}))
			ev("response.content_part.done", at(obj{"content_index": 0, "part": outputText(r.text)}))
		case "function_call":
			begun["arguments"] = ""
			ev("response.output_item.added", obj{"output_index": i, "item": begun})
			ev("response.function_call_arguments.delta", at(obj{"delta": it["arguments"]}))
			ev("response.function_call_arguments.done", at(obj{"name": it["name"], "arguments": it["arguments"]}))
		default:
			begun["input"] = ""
			ev("response.output_item.added", obj{"output_index": i, "item": begun})
			ev("response.custom_tool_call_input.delta", at(obj{"delta": it["input"]}))
			ev("response.custom_tool_call_input.done", at(obj{"input": it["input"]}))
		}
		ev("response.output_item.done", obj{"output_index": i, "item": it})
	}
	ev("response.completed", obj{"response": done})
}

func outputText(s string) obj {
	return obj{"type": "output_text", "text": s, "annotations": []obj{}, "logprobs": []obj{}}
}
