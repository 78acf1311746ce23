package model

import (
	"encoding/json"
	"strings"
)

// fillSchema returns a small value that fits a JSON schema, for side queries that want
// structured output (titles, verdicts, routing).
func fillSchema(schema json.RawMessage) any {
	var s any
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return obj{}
	}
	return fillNode(s, "", 0)
}

func fillNode(s any, key string, depth int) any {
	m, ok := s.(map[string]any)
	if !ok || depth > 8 {
		return "scripted"
	}
	if c, ok := m["const"]; ok {
		return c
	}
	if e, ok := m["enum"].([]any); ok && len(e) > 0 {
		return e[0]
	}
	for _, alt := range []string{"anyOf", "oneOf"} {
		if list, ok := m[alt].([]any); ok && len(list) > 0 {
			return fillNode(list[0], key, depth+1)
		}
	}
	switch kindOf(m) {
	case "object":
		out := obj{}
		if props, ok := m["properties"].(map[string]any); ok {
			for k, v := range props {
				out[k] = fillNode(v, k, depth+1)
			}
		}
		return out
	case "array":
		return []any{}
	case "boolean":
		return true
	case "integer", "number":
		return 1
	case "null":
		return nil
	}
	if key == "title" || key == "name" {
		return sideText
	}
	return "scripted"
}

// kindOf reads the type, which may be a list and, in Gemini, upper case.
func kindOf(m map[string]any) string {
	t := m["type"]
	if list, ok := t.([]any); ok && len(list) > 0 {
		t = list[0]
	}
	name, _ := t.(string)
	if name == "" && m["properties"] != nil {
		return "object"
	}
	return strings.ToLower(name)
}
