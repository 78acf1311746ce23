package transcript

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// geminiRow reads a row of ~/.gemini/tmp/<project>/chats/session-*.jsonl. A
// message is written again as it grows, so calls appear more than once.
func geminiRow(row []byte, _ string, emit func(Fact)) {
	if set := jsontext.Get(row, "$set"); set != nil {
		emitText(emit, Fact{Kind: Title, Source: agent.TitleGenerated, Text: textAt(set, "summary")})
		return
	}
	at := timeAt(row, "timestamp")
	content := jsontext.Get(row, "content")
	switch textAt(row, "type") {
	case "user":
		emitText(emit, Fact{Kind: Prompt, At: at, Text: contentText(content)})
	case "gemini":
		emitText(emit, Fact{Kind: Message, At: at, Text: contentText(content)})
		stopped := false
		_ = jsontext.Array(jsontext.Get(row, "toolCalls"), func(call []byte) bool {
			geminiCall(call, emit)
			stopped = stopped || textAt(call, "status") == "cancelled"
			return true
		})
		if stopped {
			emit(Fact{Kind: Interrupted, At: at})
		}
	case "info":
		if contentText(content) == "Request cancelled." { // refused at its own prompt; no hook tells
			emit(Fact{Kind: Interrupted, At: at})
		}
	case "error":
		emitText(emit, Fact{Kind: TurnEnded, At: at, Failed: true, Text: contentText(content)})
	}
}

func geminiCall(call []byte, emit func(Fact)) {
	f := Fact{Kind: CallBegan, At: timeAt(call, "timestamp"), Call: textAt(call, "id"), Tool: textAt(call, "name"),
		Input: boundedCopy(jsontext.Get(call, "args"))}
	if f.Tool == "update_topic" {
		emitText(emit, Fact{Kind: Title, At: f.At, Source: agent.TitleTopic, Text: textAt(call, "args", "title")})
	}
	emit(f)
	switch status := textAt(call, "status"); status {
	case "success", "error", "cancelled":
		emit(Fact{Kind: CallEnded, At: f.At, Call: f.Call, Tool: f.Tool, Failed: status == "error",
			Denied: status == "cancelled"})
	}
}

// qwenRow reads a row of ~/.qwen/projects/<dir>/chats/<session>.jsonl.
func qwenRow(row []byte, _ string, emit func(Fact)) {
	at := timeAt(row, "timestamp")
	parts := jsontext.Get(row, "message", "parts")
	switch textAt(row, "type") {
	case "user":
		emitText(emit, Fact{Kind: Prompt, At: at, Text: contentText(parts)})
	case "assistant":
		emitText(emit, Fact{Kind: Message, At: at, Text: contentText(parts)})
		_ = jsontext.Array(parts, func(part []byte) bool {
			if call := jsontext.Get(part, "functionCall"); call != nil {
				emit(Fact{Kind: CallBegan, At: at, Call: textAt(call, "id"), Tool: textAt(call, "name"),
					Input: boundedCopy(jsontext.Get(call, "args"))})
			}
			return true
		})
	case "tool_result":
		result := jsontext.Get(row, "toolCallResult")
		status := textAt(result, "status")
		f := Fact{Kind: CallEnded, At: at, Call: textAt(result, "callId"), Failed: status == "error"}
		if f.Denied = status == "cancelled" || textAt(result, "errorType") == "execution_denied"; f.Denied {
			f.Failed = false
		}
		if f.Failed {
			f.Text = textAt(result, "resultDisplay")
		}
		if code, ok := numberAt(result, "resultDisplay", "exitCode"); ok && code != 0 {
			f.Failed, f.Exit = true, code
		}
		emit(f)
		if status == "cancelled" {
			emit(Fact{Kind: Interrupted, At: at})
		}
	case "system":
		if textAt(row, "subtype") == "custom_title" {
			source := agent.TitleGenerated
			if textAt(row, "systemPayload", "titleSource") == "manual" {
				source = agent.TitleNamed
			}
			emitText(emit, Fact{Kind: Title, At: at, Source: source, Text: textAt(row, "systemPayload", "customTitle")})
		}
	}
}
