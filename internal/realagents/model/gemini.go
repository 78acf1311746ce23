package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// geminiAPI is Gemini generateContent and streamGenerateContent.
var geminiAPI = api{
	name:  "gemini",
	match: func(_, path string) bool { return geminiPath.MatchString(path) },
	parse: parseGemini,
	reply: replyGemini,
	fail: func(f Fail) any {
		status := f.Type
		if status == "" {
			status = map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
				429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[f.Status]
		}
		if status == "" {
			status = "INTERNAL"
		}
		return obj{"error": obj{"code": f.Status, "message": f.Message, "status": status}}
	},
}

var geminiPath = lazyregexp.New(`/models/([^/:]+):(streamGenerateContent|generateContent)$`)

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text         string `json:"text"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

func parseGemini(body []byte, path string) (conversation, error) {
	var b struct {
		System   *geminiContent  `json:"systemInstruction"`
		Contents []geminiContent `json:"contents"`
		Tools    []struct {
			Functions []struct {
				Name       string          `json:"name"`
				Schema     json.RawMessage `json:"parametersJsonSchema"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			JSONSchema     json.RawMessage `json:"responseJsonSchema"`
			ResponseSchema json.RawMessage `json:"responseSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return conversation{}, fmt.Errorf("not a generateContent request: %w", err)
	}
	m := geminiPath.FindStringSubmatch(path)
	c := conversation{model: m[1], stream: m[2] == "streamGenerateContent", schema: b.Config.JSONSchema}
	if len(c.schema) == 0 {
		c.schema = b.Config.ResponseSchema
	}
	for _, t := range b.Tools {
		for _, f := range t.Functions {
			schema := f.Schema
			if len(schema) == 0 {
				schema = f.Parameters
			}
			c.tools = append(c.tools, offer{f.Name, schema})
		}
	}
	if b.System != nil {
		for _, p := range b.System.Parts {
			c.messages = append(c.messages, textMessage(RoleSystem, p.Text))
		}
	}
	for _, content := range b.Contents {
		role := RoleUser
		if content.Role == "model" {
			role = RoleAssistant
		}
		for _, p := range content.Parts {
			switch {
			case p.FunctionCall != nil:
				c.messages = append(c.messages, Message{Role: RoleAssistant, Kind: KindToolCall,
					Text: string(p.FunctionCall.Args), ToolCallID: p.FunctionCall.ID, ToolName: p.FunctionCall.Name})
			case p.FunctionResponse != nil:
				c.messages = append(c.messages, Message{Role: RoleTool, Kind: KindToolResult,
					Text: geminiResult(p.FunctionResponse.Response), ToolCallID: p.FunctionResponse.ID,
					ToolName: p.FunctionResponse.Name})
			case strings.TrimSpace(p.Text) != "":
				c.messages = append(c.messages, textMessage(role, p.Text))
			}
		}
	}
	return c, nil
}

// geminiResult unwraps {"output": "…"} and {"error": "…"}; anything else stays JSON.
func geminiResult(raw json.RawMessage) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) == nil && len(m) == 1 {
		for _, v := range m {
			var s string
			if json.Unmarshal(v, &s) == nil {
				return s
			}
		}
	}
	return string(raw)
}

func replyGemini(out *output, r reply) {
	// The API requires a signature on calls; any base64 will do offline.
	const signature = "aG9va211eA=="
	chunk := func(parts []obj, finish bool) obj {
		cand := obj{"content": obj{"role": "model", "parts": parts}, "index": 0}
		if finish {
			cand["finishReason"] = "STOP"
		}
		return obj{"candidates": []obj{cand}, "modelVersion": r.model, "responseId": fmt.Sprintf("hmx%04d", r.turn),
			"usageMetadata": obj{"promptTokenCount": r.inputTokens, "candidatesTokenCount": 20,
				"totalTokenCount": r.inputTokens + 20}}
	}
	var calls []obj
	for _, c := range r.calls {
		calls = append(calls, obj{"functionCall": obj{"id": c.id, "name": c.Name, "args": c.input()},
			"thoughtSignature": signature})
	}
	if !out.stream {
		var parts []obj
		if r.text != "" {
			parts = append(parts, obj{"text": r.text})
		}
		out.whole(chunk(append(parts, calls...), true))
		return
	}
	// The last piece carries the finish: Gemini's own client treats a finish alone, without content,
	// as an empty answer.
	pieces := split(r.text, 40)
	for i, s := range pieces {
		if i > 0 && !sleep(out.ctx, out.chunkDelay) {
			return
		}
		out.event("", chunk([]obj{{"text": s}}, i == len(pieces)-1 && len(calls) == 0))
	}
	if len(calls) > 0 {
		out.event("", chunk(calls, true))
	}
}
