package model

import (
	"encoding/json"
	"strings"
)

// part is one piece of message content, with the fields of all APIs that put
// content into typed parts.
type part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// parts reads content that is a string, one part, or a list of parts or strings.
func parts(raw json.RawMessage) []part {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil
		}
		return []part{{Type: "text", Text: text}}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var out []part
	for _, r := range list {
		var p part
		if json.Unmarshal(r, &text) == nil {
			p = part{Type: "text", Text: text}
		} else if json.Unmarshal(r, &p) != nil {
			continue
		}
		out = append(out, p)
	}
	return out
}

// textOf joins all text in content; what holds no text is given as JSON, so
// that a structured tool result is still searchable.
func textOf(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var texts []string
	for _, p := range parts(raw) {
		switch {
		case p.Text != "":
			texts = append(texts, p.Text)
		case len(p.Content) > 0:
			texts = append(texts, textOf(p.Content))
		}
	}
	if len(texts) == 0 && raw[0] == '{' {
		return string(raw)
	}
	return strings.Join(texts, "\n")
}

// textMessage returns the message for a text; what an agent wraps in a reminder is its
// own addition, not the user's prompt.
func textMessage(role, text string) Message {
	kind := KindText
	if role == RoleUser && strings.HasPrefix(strings.TrimSpace(text), "<system-reminder>") {
		kind = KindReminder
	}
	return Message{Role: role, Kind: kind, Text: text}
}

// forcedTool reads tool_choice of the OpenAI and Anthropic APIs; only a choice of one named tool
// is returned.
func forcedTool(raw json.RawMessage) string {
	var c struct {
		Type     string `json:"type"`
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &c) != nil || c.Type == "" {
		return ""
	}
	if c.Function.Name != "" {
		return c.Function.Name
	}
	return c.Name
}
