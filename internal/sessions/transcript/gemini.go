package transcript

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// geminiRow reads a row of ~/.gemini/tmp/<project>/chats/session-*.jsonl. A
// message is written again as it grows, so calls appear more than once.
func geminiRow(row []byte, _ string, emit func(Fact)) {
	if set := jsonscan.Get(row, "$set"); set != nil {
		said(emit, Fact{Kind: Title, Source: agent.TitleGenerated, Text: text(set, "summary")})
		return
	}
	at := when(row, "timestamp")
	content := jsonscan.Get(row, "content")
	switch text(row, "type") {
	case "user":
		said(emit, Fact{Kind: Prompt, At: at, Text: words(content)})
	case "gemini":
		said(emit, Fact{Kind: Message, At: at, Text: words(content)})
		stopped := false
		_ = jsonscan.Array(jsonscan.Get(row, "toolCalls"), func(call []byte) bool {
			geminiCall(call, emit)
			stopped = stopped || text(call, "status") == "cancelled"
			return true
		})
		if stopped {
			emit(Fact{Kind: Interrupted, At: at})
		}
	case "error":
		said(emit, Fact{Kind: TurnEnded, At: at, Failed: true, Text: words(content)})
	}
}

func geminiCall(call []byte, emit func(Fact)) {
	f := Fact{Kind: CallBegan, At: when(call, "timestamp"), Call: text(call, "id"), Tool: text(call, "name"), Input: bounded(jsonscan.Get(call, "args"))}
	if f.Tool == "update_topic" {
		said(emit, Fact{Kind: Title, At: f.At, Source: agent.TitleTopic, Text: text(call, "args", "title")})
	}
	emit(f)
	switch status := text(call, "status"); status {
	case "success", "error", "cancelled":
		emit(Fact{Kind: CallEnded, At: f.At, Call: f.Call, Tool: f.Tool, Failed: status == "error", Denied: status == "cancelled"})
	}
}

// qwenRow reads a row of ~/.qwen/projects/<dir>/chats/<session>.jsonl.
func qwenRow(row []byte, _ string, emit func(Fact)) {
	at := when(row, "timestamp")
	parts := jsonscan.Get(row, "message", "parts")
	switch text(row, "type") {
	case "user":
		said(emit, Fact{Kind: Prompt, At: at, Text: words(parts)})
	case "assistant":
		said(emit, Fact{Kind: Message, At: at, Text: words(parts)})
		_ = jsonscan.Array(parts, func(part []byte) bool {
			if call := jsonscan.Get(part, "functionCall"); call != nil {
				emit(Fact{Kind: CallBegan, At: at, Call: text(call, "id"), Tool: text(call, "name"), Input: bounded(jsonscan.Get(call, "args"))})
			}
			return true
		})
	case "tool_result":
		result := jsonscan.Get(row, "toolCallResult")
		status := text(result, "status")
		f := Fact{Kind: CallEnded, At: at, Call: text(result, "callId"), Failed: status == "error"}
		if f.Denied = status == "cancelled" || text(result, "errorType") == "execution_denied"; f.Denied {
			f.Failed = false
		}
		if f.Failed {
			f.Text = text(result, "resultDisplay")
		}
		if code, ok := number(result, "resultDisplay", "exitCode"); ok && code != 0 {
			f.Failed, f.Exit = true, code
		}
		emit(f)
		if status == "cancelled" {
			emit(Fact{Kind: Interrupted, At: at})
		}
	case "system":
		if text(row, "subtype") == "custom_title" {
			source := agent.TitleGenerated
			if text(row, "systemPayload", "titleSource") == "manual" {
				source = agent.TitleNamed
			}
			said(emit, Fact{Kind: Title, At: at, Source: source, Text: text(row, "systemPayload", "customTitle")})
		}
	}
}
