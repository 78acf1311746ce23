package transcript

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// piRow reads a row of ~/.pi/agent/sessions/<dir>/<time>_<session>.jsonl.
func piRow(row []byte, _ string, emit func(Fact)) {
	at := timeAt(row, "timestamp")
	switch textAt(row, "type") {
	case "session_info":
		emitText(emit, Fact{Kind: Title, At: at, Source: agent.TitleNamed, Text: textAt(row, "name")})
	case "message":
		message := jsontext.Get(row, "message")
		content := jsontext.Get(message, "content")
		switch textAt(message, "role") {
		case "user":
			emitText(emit, Fact{Kind: Prompt, At: at, Text: contentText(content)})
		case "assistant":
			emitText(emit, Fact{Kind: Message, At: at, Text: contentText(content)})
			_ = jsontext.Array(content, func(part []byte) bool {
				if textAt(part, "type") == "toolCall" {
					emit(Fact{Kind: CallBegan, At: at, Call: textAt(part, "id"), Tool: textAt(part, "name"),
						Input: boundedCopy(jsontext.Get(part, "arguments"))})
				}
				return true
			})
			piEnd(message, Fact{At: at}, emit)
		case "toolResult":
			f := Fact{Kind: CallEnded, At: at, Call: textAt(message, "toolCallId"), Tool: textAt(message, "toolName"),
				Failed: isWord(message, "true", "isError")}
			if f.Failed {
				f.Text = contentText(content)
			}
			emit(f)
		}
	}
}

// piEnd reads how a message stopped: an abort is reported as an error of its own. Other
// errors are retried, so they end nothing.
func piEnd(message []byte, f Fact, emit func(Fact)) {
	switch textAt(message, "stopReason") {
	case "aborted":
	case "error":
		if !strings.Contains(strings.ToLower(textAt(message, "errorMessage")), "aborted") {
			return
		}
	default:
		return
	}
	f.Kind = Interrupted
	emit(f)
}
