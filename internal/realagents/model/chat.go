package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chatAPI is OpenAI Chat Completions, the format most "custom provider"
// settings of agents mean.
var chatAPI = api{
	name:  "chat",
	match: func(_, path string) bool { return strings.HasSuffix(path, "/chat/completions") },
	parse: parseChat,
	reply: replyChat,
	fail:  openAIError,
}

type chatCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func parseChat(body []byte, _ string) (conversation, error) {
	var b struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCalls  []chatCall      `json:"tool_calls"`
			ToolCallID string          `json:"tool_call_id"`
			Name       string          `json:"name"`
		} `json:"messages"`
		Tools []struct {
			Type     string `json:"type"`
			Function struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		ToolChoice     json.RawMessage `json:"tool_choice"`
		ResponseFormat *struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return conversation{}, fmt.Errorf("not a Chat Completions request: %w", err)
	}
	c := conversation{model: b.Model, stream: b.Stream, forced: forcedTool(b.ToolChoice)}
	if f := b.ResponseFormat; f != nil {
		c.schema = firstSchema(&jsonFormat{Type: f.Type, Schema: f.JSONSchema.Schema})
	}
	for _, t := range b.Tools {
		name := t.Function.Name
		if name == "" {
			name = t.Type
		}
		c.tools = append(c.tools, offer{name, t.Function.Schema})
	}
	for _, m := range b.Messages {
		if m.Role == RoleTool {
			c.messages = append(c.messages, Message{Role: RoleTool, Kind: KindToolResult, Text: textOf(m.Content),
				ToolCallID: m.ToolCallID, ToolName: m.Name})
			continue
		}
		for _, p := range parts(m.Content) {
			if p.Text != "" {
				c.messages = append(c.messages, textMessage(m.Role, p.Text))
			}
		}
		for _, tc := range m.ToolCalls {
			c.messages = append(c.messages, Message{Role: RoleAssistant, Kind: KindToolCall,
				Text: tc.Function.Arguments, ToolCallID: tc.ID, ToolName: tc.Function.Name})
		}
	}
	return c, nil
}

func replyChat(out *output, r reply) {
	usage := obj{"prompt_tokens": r.inputTokens, "completion_tokens": 20, "total_tokens": r.inputTokens + 20}
	var calls []obj
	finish := "stop"
	for _, c := range r.calls {
		finish = "tool_calls"
		calls = append(calls, obj{"id": c.id, "type": "function",
			"function": obj{"name": c.Name, "arguments": compact(c.input())}})
	}
	base := func(object string, choices []obj) obj {
		return obj{"id": fmt.Sprintf("chatcmpl-hmx%04d", r.turn), "object": object, "created": 1700000000,
			"model": r.model, "choices": choices}
	}
	if !out.stream {
		msg := obj{"role": "assistant", "content": nil}
		if r.text != "" {
			msg["content"] = r.text
		}
		if len(calls) > 0 {
			msg["tool_calls"] = calls
		}
		v := base("chat.completion", []obj{{"index": 0, "message": msg, "finish_reason": finish}})
		v["usage"] = usage
		out.whole(v)
		return
	}
	chunk := func(delta obj, finish any) obj {
		return base("chat.completion.chunk", []obj{{"index": 0, "delta": delta, "finish_reason": finish}})
	}
	out.event("", chunk(obj{"role": "assistant", "content": ""}, nil))
	out.pieces(r.text, func(s string) { out.event("", chunk(obj{"content": s}, nil)) })
	for i, c := range calls {
		c["index"] = i
		out.event("", chunk(obj{"tool_calls": []obj{c}}, nil))
	}
	// Usage goes both with the finish and in a chunk of its own: clients read
	// the one or the other.
	last := chunk(obj{}, finish)
	last["usage"] = usage
	out.event("", last)
	alone := base("chat.completion.chunk", []obj{})
	alone["usage"] = usage
	out.event("", alone)
	out.event("", "[DONE]")
}
