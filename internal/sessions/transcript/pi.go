package transcript

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// piRow reads a row of ~/.pi/agent/sessions/<dir>/<time>_<session>.jsonl.
func piRow(row []byte, _ string, emit func(Fact)) {
	at := when(row, "timestamp")
	switch text(row, "type") {
	case "session_info":
		said(emit, Fact{Kind: Title, At: at, Source: agent.TitleNamed, Text: text(row, "name")})
	case "message":
		message := jsonscan.Get(row, "message")
		content := jsonscan.Get(message, "content")
		switch text(message, "role") {
		case "user":
			said(emit, Fact{Kind: Prompt, At: at, Text: words(content)})
		case "assistant":
			said(emit, Fact{Kind: Message, At: at, Text: words(content)})
			_ = jsonscan.Array(content, func(part []byte) bool {
				if text(part, "type") == "toolCall" {
					emit(Fact{Kind: CallBegan, At: at, Call: text(part, "id"), Tool: text(part, "name"), Input: bounded(jsonscan.Get(part, "arguments"))})
				}
				return true
			})
			piEnd(message, Fact{At: at}, emit)
		case "toolResult":
			f := Fact{Kind: CallEnded, At: at, Call: text(message, "toolCallId"), Tool: text(message, "toolName"), Failed: is(message, "true", "isError")}
			if f.Failed {
				f.Text = words(content)
			}
			emit(f)
		}
	}
}

// piEnd reads how a message stopped: an abort is told as an error of its own.
// Other errors are tried again, so they end nothing.
func piEnd(message []byte, f Fact, emit func(Fact)) {
	switch text(message, "stopReason") {
	case "aborted":
	case "error":
		if !strings.Contains(strings.ToLower(text(message, "errorMessage")), "aborted") {
			return
		}
	default:
		return
	}
	f.Kind = Interrupted
	emit(f)
}
