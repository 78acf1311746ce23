package pi

import (
	"encoding/json"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
	"github.com/hookmux/hookmux/internal/toolnames"
)

// Result is a tool's result in pi's format, and the way back.
type Result struct {
	Content []any
	keep    Object // an agent that wants its own shape back: this one
	path    []any  // where in it the text is
}

// textKeys are where agents keep a tool's output; the first one found is used.
var textKeys = [][]any{
	{"llmContent"}, {"textResultForLlm"}, {"text_result_for_llm"}, {"output_for_prompt"}, {"output"}, {"content"},
	{"result"}, {"text"}, {"message"}, {"error"},
}

// ReadResult reads a result. Agents have many shapes; what cannot be taken apart
// is shown as its JSON.
func ReadResult(native json.RawMessage) Result {
	if len(native) == 0 {
		return Result{Content: []any{}}
	}
	if text, ok := jsontext.String(native); ok {
		return Result{Content: TextContent(text)}
	}
	if jsontext.IsArray(native) {
		var parts []any
		if json.Unmarshal(native, &parts) == nil && areParts(parts) {
			return Result{Content: parts}
		}
		return Result{Content: TextContent(string(native))}
	}
	o := ParseObject(native)
	if o == nil {
		return Result{Content: TextContent(string(native))}
	}
	// Claude Code takes a result back only in the shape it gave it.
	if stdout, ok := o["stdout"].(string); ok {
		text := stdout
		if stderr, _ := o["stderr"].(string); stderr != "" {
			text = strings.TrimRight(text, "\n") + "\n" + stderr
		}
		return Result{Content: TextContent(text), keep: o, path: []any{"stdout"}}
	}
	if file, ok := o["file"].(Object); ok {
		if text, ok := file["content"].(string); ok {
			return Result{Content: TextContent(text), keep: o, path: []any{"file", "content"}}
		}
	}
	for _, path := range textKeys {
		switch v := o[path[0].(string)].(type) {
		case string:
			return Result{Content: TextContent(v)}
		case []any:
			if areParts(v) {
				return Result{Content: v}
			}
		}
	}
	return Result{Content: TextContent(string(native))}
}

// areParts reports whether a list is made of message parts.
func areParts(list []any) bool {
	for _, e := range list {
		part, ok := e.(Object)
		if !ok {
			return false
		}
		if _, text := part["text"].(string); !text && part["type"] == nil {
			return false
		}
		if part["type"] == nil {
			part["type"] = "text"
		}
	}
	return len(list) > 0
}

func TextContent(text string) []any { return []any{Object{"type": "text", "text": text}} }

// Back returns a changed content as the agent takes it. own says that the agent
// takes pi's parts themselves.
func (o Result) Back(content []any, own bool) json.RawMessage {
	if own {
		return Encode(content)
	}
	var texts []string
	for _, e := range content {
		if part, ok := e.(Object); ok {
			if text, ok := part["text"].(string); ok {
				texts = append(texts, text)
			}
		}
	}
	text := strings.Join(texts, "\n")
	if o.keep == nil {
		return Encode(text)
	}
	whole := Clone(o.keep).(Object)
	toolnames.Replace(whole, o.path, text)
	if _, ok := whole["stderr"].(string); ok {
		whole["stderr"] = "" // its content is in the text that was changed
	}
	return Encode(whole)
}

func Encode(v any) json.RawMessage {
	b, err := jsonx.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
