package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A wire is a minimal agent for one API: it builds requests out of a neutral
// history and reads answers, so that one test body can cover all APIs.
type wire struct {
	name  string
	path  func(stream bool) string
	build func(history []Message, tools []string, stream bool) any
	whole func(v obj) answer
	chunk func(a *answer, event string, v obj)
}

type answer struct {
	status  int
	text    string
	calls   []Message
	events  []string
	finish  string
	started bool
}

var wires = []wire{
	{
		name:  "messages",
		path:  func(bool) string { return "/v1/messages" },
		build: buildMessages,
		whole: func(v obj) answer {
			a := answer{finish: str(v["stop_reason"])}
			for _, b := range list(v["content"]) {
				if b["type"] == "text" {
					a.text += str(b["text"])
				} else {
					a.calls = append(a.calls, Message{ToolCallID: str(b["id"]), ToolName: str(b["name"]),
						Text: compact(b["input"])})
				}
			}
			return a
		},
		chunk: func(a *answer, event string, v obj) {
			switch event {
			case "message_start":
				a.started = true
			case "content_block_start":
				if b := sub(v, "content_block"); b["type"] == "tool_use" {
					a.calls = append(a.calls, Message{ToolCallID: str(b["id"]), ToolName: str(b["name"])})
				}
			case "content_block_delta":
				d := sub(v, "delta")
				a.text += str(d["text"])
				if p := str(d["partial_json"]); p != "" {
					a.calls[len(a.calls)-1].Text += p
				}
			case "message_delta":
				a.finish = str(sub(v, "delta")["stop_reason"])
			}
		},
	},
	{
		name:  "responses",
		path:  func(bool) string { return "/v1/responses" },
		build: buildResponses,
		whole: wholeResponses,
		chunk: func(a *answer, event string, v obj) {
			switch event {
			case "response.created":
				a.started = true
			case "response.output_text.delta":
				a.text += str(v["delta"])
			case "response.completed":
				w := wholeResponses(sub(v, "response"))
				if w.text != a.text {
					a.text = "deltas and end differ: " + a.text + " / " + w.text
				}
				a.calls, a.finish = w.calls, w.finish
			}
		},
	},
	{
		name:  "chat",
		path:  func(bool) string { return "/v1/chat/completions" },
		build: buildChat,
		whole: func(v obj) answer {
			c := list(v["choices"])[0]
			a := answer{finish: str(c["finish_reason"])}
			addChat(&a, sub(c, "message"))
			return a
		},
		chunk: func(a *answer, _ string, v obj) {
			a.started = true
			for _, c := range list(v["choices"]) {
				addChat(a, sub(c, "delta"))
				if f := str(c["finish_reason"]); f != "" {
					a.finish = f
				}
			}
		},
	},
	{
		name: "gemini",
		path: func(stream bool) string {
			if stream {
				return "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
			}
			return "/v1beta/models/gemini-2.5-pro:generateContent"
		},
		build: buildGemini,
		whole: func(v obj) answer { a := answer{}; addGemini(&a, v); return a },
		chunk: func(a *answer, _ string, v obj) { a.started = true; addGemini(a, v) },
	},
}

func buildMessages(history []Message, tools []string, stream bool) any {
	b := obj{"model": "m", "stream": stream, "system": []obj{{"type": "text", "text": "You are a test."}}}
	var ms, ts []obj
	for _, m := range history {
		switch m.Kind {
		case KindToolResult:
			ms = append(ms, obj{"role": "user", "content": []obj{{"type": "tool_result", "tool_use_id": m.ToolCallID,
				"content": m.Text, "is_error": m.IsError}}})
		case KindToolCall:
			ms = append(ms, obj{"role": "assistant",
				"content": []obj{{"type": "tool_use", "id": m.ToolCallID, "name": m.ToolName,
					"input": json.RawMessage(m.Text)}}})
		default:
			ms = append(ms, obj{"role": m.Role, "content": []obj{{"type": "text", "text": m.Text}}})
		}
	}
	for _, t := range tools {
		ts = append(ts, obj{"name": t, "input_schema": obj{"type": "object"}})
	}
	b["messages"], b["tools"] = ms, ts
	return b
}

func buildResponses(history []Message, tools []string, stream bool) any {
	items := []obj{}
	for _, m := range history {
		switch m.Kind {
		case KindToolResult:
			items = append(items, obj{"type": "function_call_output", "call_id": m.ToolCallID, "output": m.Text})
		case KindToolCall:
			items = append(items, obj{"type": "function_call", "call_id": m.ToolCallID, "name": m.ToolName,
				"arguments": m.Text})
		default:
			items = append(items, obj{"type": "message", "role": m.Role,
				"content": []obj{{"type": "input_text", "text": m.Text}}})
		}
	}
	var ts []obj
	for _, t := range tools {
		ts = append(ts, obj{"type": "function", "name": t, "parameters": obj{"type": "object"}})
	}
	return obj{"model": "m", "stream": stream, "instructions": "You are a test.", "input": items, "tools": ts}
}

func wholeResponses(v obj) answer {
	a := answer{finish: str(v["status"])}
	for _, it := range list(v["output"]) {
		switch it["type"] {
		case "message":
			for _, p := range list(it["content"]) {
				a.text += str(p["text"])
			}
		case "function_call":
			a.calls = append(a.calls, Message{ToolCallID: str(it["call_id"]), ToolName: str(it["name"]),
				Text: str(it["arguments"])})
		case "custom_tool_call":
			a.calls = append(a.calls, Message{ToolCallID: str(it["call_id"]), ToolName: str(it["name"]),
				Text: str(it["input"]), Kind: "custom"})
		}
	}
	return a
}

func buildChat(history []Message, tools []string, stream bool) any {
	ms := []obj{{"role": "system", "content": "You are a test."}}
	for _, m := range history {
		switch m.Kind {
		case KindToolResult:
			ms = append(ms, obj{"role": "tool", "tool_call_id": m.ToolCallID, "content": m.Text})
		case KindToolCall:
			ms = append(ms, obj{"role": "assistant", "content": nil,
				"tool_calls": []obj{{"id": m.ToolCallID, "type": "function",
					"function": obj{"name": m.ToolName, "arguments": m.Text}}}})
		default:
			ms = append(ms, obj{"role": m.Role, "content": m.Text})
		}
	}
	var ts []obj
	for _, t := range tools {
		ts = append(ts, obj{"type": "function", "function": obj{"name": t, "parameters": obj{"type": "object"}}})
	}
	return obj{"model": "m", "stream": stream, "messages": ms, "tools": ts}
}

func addChat(a *answer, msg obj) {
	a.text += str(msg["content"])
	for _, c := range list(msg["tool_calls"]) {
		f := sub(c, "function")
		a.calls = append(a.calls, Message{ToolCallID: str(c["id"]), ToolName: str(f["name"]),
			Text: str(f["arguments"])})
	}
}

func buildGemini(history []Message, tools []string, _ bool) any {
	var cs, fs []obj
	system := []obj{{"text": "You are a test."}}
	for _, m := range history {
		switch {
		case m.Role == RoleSystem:
			system = append(system, obj{"text": m.Text})
		case m.Kind == KindToolResult:
			cs = append(cs, obj{"role": "user", "parts": []obj{{"functionResponse": obj{"id": m.ToolCallID,
				"name": m.ToolName, "response": obj{"output": m.Text}}}}})
		case m.Kind == KindToolCall:
			cs = append(cs, obj{"role": "model", "parts": []obj{{"functionCall": obj{"id": m.ToolCallID,
				"name": m.ToolName, "args": json.RawMessage(m.Text)}}}})
		case m.Role == RoleAssistant:
			cs = append(cs, obj{"role": "model", "parts": []obj{{"text": m.Text}}})
		default:
			cs = append(cs, obj{"role": "user", "parts": []obj{{"text": m.Text}}})
		}
	}
	for _, t := range tools {
		fs = append(fs, obj{"name": t, "parametersJsonSchema": obj{"type": "object"}})
	}
	b := obj{"systemInstruction": obj{"parts": system}, "contents": cs}
	if len(fs) > 0 {
		b["tools"] = []obj{{"functionDeclarations": fs}}
	}
	return b
}

func addGemini(a *answer, v obj) {
	for _, c := range list(v["candidates"]) {
		if f := str(c["finishReason"]); f != "" {
			a.finish = f
		}
		for _, p := range list(sub(c, "content")["parts"]) {
			a.text += str(p["text"])
			if f := sub(p, "functionCall"); f != nil {
				a.calls = append(a.calls, Message{ToolCallID: str(f["id"]), ToolName: str(f["name"]),
					Text: compact(f["args"])})
			}
		}
	}
}

// ask sends one request and reads the whole answer.
func (w wire) ask(t *testing.T, base string, history []Message, tools []string, stream bool) answer {
	t.Helper()
	resp := post(t, base+w.path(stream), w.build(history, tools, stream))
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return answer{status: resp.StatusCode}
	}
	if !stream {
		var v obj
		if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
			t.Fatal(err)
		}
		a := w.whole(v)
		a.status = resp.StatusCode
		return a
	}
	if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Fatalf(`content type %q, want "text/event-stream"`, ct)
	}
	a := answer{status: resp.StatusCode}
	event := ""
	sc := bufio.NewScanner(resp.Body)
	for sc.Scan() {
		line := sc.Text()
		if e, ok := strings.CutPrefix(line, "event: "); ok {
			event = e
			a.events = append(a.events, e)
		}
		d, ok := strings.CutPrefix(line, "data: ")
		if !ok || d == "[DONE]" {
			continue
		}
		var v obj
		if err := json.Unmarshal([]byte(d), &v); err != nil {
			t.Fatalf("event data %q: %v", d, err)
		}
		w.chunk(&a, event, v)
	}
	if !a.started {
		t.Fatal("the stream never started")
	}
	return a
}

func post(t *testing.T, url string, body any) *http.Response {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url, "application/json", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func str(v any) string { s, _ := v.(string); return s }

func sub(v obj, key string) obj { m, _ := v[key].(map[string]any); return m }

func list(v any) []obj {
	var out []obj
	l, _ := v.([]any)
	for _, x := range l {
		if m, ok := x.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
