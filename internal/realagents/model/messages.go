package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// messagesAPI is Anthropic Messages.
var messagesAPI = api{
	name:  "messages",
	match: func(_, path string) bool { return strings.HasSuffix(path, "/messages") },
	parse: parseMessages,
	reply: replyMessages,
	fail: func(f Fail) any {
		kind := f.Type
		if kind == "" {
			kind = map[int]string{401: "authentication_error", 403: "permission_error", 429: "rate_limit_error",
				529: "overloaded_error"}[f.Status]
		}
		if kind == "" {
			kind = "api_error"
		}
		return errorBody(kind, f.Message)
	},
}

func parseMessages(body []byte, _ string) (conversation, error) {
	var b struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		Safeguards   json.RawMessage `json:"safeguards"`
		ToolChoice   json.RawMessage `json:"tool_choice"`
		OutputFormat *jsonFormat     `json:"output_format"`
		OutputConfig struct {
			Format *jsonFormat `json:"format"`
		} `json:"output_config"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return conversation{}, fmt.Errorf("not a Messages request: %w", err)
	}
	c := conversation{model: b.Model, stream: b.Stream, forced: forcedTool(b.ToolChoice),
		checked: len(b.Safeguards) > 0}
	c.schema = firstSchema(b.OutputConfig.Format, b.OutputFormat)
	for _, t := range b.Tools {
		c.tools = append(c.tools, offer{t.Name, t.Schema})
	}
	for _, p := range parts(b.System) {
		c.messages = append(c.messages, textMessage(RoleSystem, p.Text))
	}
	for _, m := range b.Messages {
		for _, p := range parts(m.Content) {
			switch p.Type {
			case "tool_result":
				c.messages = append(c.messages, Message{Role: RoleTool, Kind: KindToolResult, Text: textOf(p.Content),
					ToolCallID: p.ToolUseID, IsError: p.IsError})
			case "tool_use":
				c.messages = append(c.messages, Message{Role: RoleAssistant, Kind: KindToolCall, Text: string(p.Input),
					ToolCallID: p.ID, ToolName: p.Name})
			case "text":
				c.messages = append(c.messages, textMessage(m.Role, p.Text))
			}
		}
	}
	return c, nil
}

// jsonFormat is the request for structured output, in the spelling shared by
// Anthropic and OpenAI Responses.
type jsonFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

func firstSchema(fs ...*jsonFormat) json.RawMessage {
	for _, f := range fs {
		if f != nil && f.Type == "json_schema" {
			if len(f.Schema) == 0 {
				return json.RawMessage("{}")
			}
			return f.Schema
		}
	}
	return nil
}

func replyMessages(out *output, r reply) {
	var blocks []obj
	if r.text != "" {
		blocks = append(blocks, obj{"type": "text", "text": r.text})
	}
	stop := "end_turn"
	for _, c := range r.calls {
		stop = "tool_use"
		blocks = append(blocks, obj{"type": "tool_use", "id": c.id, "name": c.Name, "input": c.input()})
	}
	usage := obj{"input_tokens": r.inputTokens, "output_tokens": 20, "cache_creation_input_tokens": 0,
		"cache_read_input_tokens": 0, "service_tier": "standard"}
	msg := func(content []obj, stop any) obj {
		return obj{"id": fmt.Sprintf("msg_hmx%04d", r.turn), "type": "message", "role": "assistant", "model": r.model,
			"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	}
	if !out.stream {
		out.whole(msg(blocks, stop))
		return
	}
	ev := func(kind string, v obj) {
		v["type"] = kind
		out.event(kind, v)
	}
	ev("message_start", obj{"message": msg([]obj{}, nil)})
	for i, b := range blocks {
		if b["type"] == "text" {
			ev("content_block_start", obj{"index": i, "content_block": obj{"type": "text", "text": ""}})
			out.pieces(r.text, func(s string) {
				ev("content_block_delta", obj{"index": i, "delta": obj{"type": "text_delta", "text": s}})
			})
		} else {
			ev("content_block_start", obj{"index": i,
				"content_block": obj{"type": "tool_use", "id": b["id"], "name": b["name"], "input": obj{}}})
			ev("content_block_delta", obj{"index": i,
				"delta": obj{"type": "input_json_delta", "partial_json": compact(b["input"])}})
		}
		ev("content_block_stop", obj{"index": i})
	}
	delta := obj{"stop_reason": stop, "stop_sequence": nil}
	if r.verdicts != nil {
		delta["safeguard_results"] = []obj{{"type": "dangerous_tool_use",
			"status": obj{"type": "available", "tool_uses": r.verdicts}}}
	}
	ev("message_delta", obj{"delta": delta, "usage": obj{"output_tokens": 20}})
	ev("message_stop", obj{})
}
