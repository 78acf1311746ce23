package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// augmentAPI is the API that Augment's agents ask their tenant with: a message with the
// exchanges before it, answered by one JSON object per line.
var augmentAPI = api{
	name:  "augment",
	match: func(_, path string) bool { return strings.HasSuffix(path, "/chat-stream") },
	parse: parseAugment,
	reply: replyAugment,
	fail:  openAIError,
}

// Kinds of nodes in an answer, and why it ended.
const (
	augmentText    = 0
	augmentToolUse = 5

	augmentEndTurn  = 1
	augmentToolCall = 3
)

type augmentNode struct {
	Text *struct {
		Content string `json:"content"`
	} `json:"text_node"`
	Result *struct {
		ID      string `json:"tool_use_id"`
		Content string `json:"content"`
		Failed  bool   `json:"is_error"`
	} `json:"tool_result_node"`
	Use *struct {
		ID    string `json:"tool_use_id"`
		Name  string `json:"tool_name"`
		Input string `json:"input_json"`
	} `json:"tool_use"`
}

func parseAugment(body []byte, _ string) (conversation, error) {
	var b struct {
		Model   string        `json:"model"`
		Message string        `json:"message"`
		Nodes   []augmentNode `json:"nodes"`
		History []struct {
			Message  string        `json:"request_message"`
			Request  []augmentNode `json:"request_nodes"`
			Answer   string        `json:"response_text"`
			Response []augmentNode `json:"response_nodes"`
		} `json:"chat_history"`
		Tools []struct {
			Name   string `json:"name"`
			Schema string `json:"input_schema_json"`
		} `json:"tool_definitions"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return conversation{}, fmt.Errorf("not a request of Augment's: %w", err)
	}
	c := conversation{model: b.Model, stream: true}
	for _, t := range b.Tools {
		c.tools = append(c.tools, offer{t.Name, json.RawMessage(t.Schema)})
	}
	asked := func(text string, nodes []augmentNode) {
		for _, n := range nodes {
			switch {
			case n.Text != nil && n.Text.Content != text:
				c.messages = append(c.messages, textMessage(RoleUser, n.Text.Content))
			case n.Result != nil:
				c.messages = append(c.messages, Message{Role: RoleTool, Kind: KindToolResult, Text: n.Result.Content,
					ToolCallID: n.Result.ID, IsError: n.Result.Failed})
			}
		}
		if text != "" {
			c.messages = append(c.messages, textMessage(RoleUser, text))
		}
	}
	for _, h := range b.History {
		asked(h.Message, h.Request)
		if h.Answer != "" {
			c.messages = append(c.messages, textMessage(RoleAssistant, h.Answer))
		}
		for _, n := range h.Response {
			if n.Use != nil {
				c.messages = append(c.messages, Message{Role: RoleAssistant, Kind: KindToolCall, Text: n.Use.Input,
					ToolCallID: n.Use.ID, ToolName: n.Use.Name})
			}
		}
	}
	asked(b.Message, b.Nodes)
	return c, nil
}

func replyAugment(out *output, r reply) {
	nodes := []obj{}
	if r.text != "" {
		nodes = append(nodes, obj{"id": 1, "type": augmentText, "content": r.text})
	}
	why := augmentEndTurn
	for i, c := range r.calls {
		why = augmentToolCall
		nodes = append(nodes, obj{"id": i + 2, "type": augmentToolUse, "content": "", "tool_use": obj{
			"tool_use_id": c.id, "tool_name": c.Name, "input_json": compact(c.input())}})
	}
	out.line(obj{"text": r.text, "nodes": nodes, "stop_reason": why})
}

// augmentStartup returns what a tenant answers in addition to conversations: the model there is,
// and that hooks are switched on.
func augmentStartup(path string) (any, bool) {
	last := path[strings.LastIndex(path, "/")+1:]
	if last == "get-models" {
		on := obj{"enable_hooks": true, "enableHooks": true}
		return obj{"default_model": modelNames[0], "models": []obj{{"name": modelNames[0],
			"internal_name": modelNames[0], "suggested_prefix_char_count": 0, "suggested_suffix_char_count": 0}},
			"languages": []obj{}, "feature_flags": on, "feature_flags_v2": on, "user_tier": "PROFESSIONAL_TIER",
			"user": obj{"id": "hookmux", "email": "hookmux@example.invalid"}}, true
	}
	for _, word := range []string{"get-mcp-tenant-configs", "get-mcp-user-configs", "list-remote-tools", "find-missing",
		"report-", "record-", "client-", "checkpoint", "batch-upload", "subscription"} {
		if strings.HasPrefix(last, word) {
			return obj{}, true
		}
	}
	return nil, false
}
