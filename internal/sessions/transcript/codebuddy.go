package transcript

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// codebuddyRow reads a row of ~/.codebuddy/projects/<dir>/<session>.jsonl. An interrupt and
// a failed request to the model appear as messages of the agent with an error beside them;
// its hooks report both as a plain end.
func codebuddyRow(row []byte, _ string, emit func(Fact)) {
	at := timeAt(row, "timestamp")
	beside := jsontext.Get(row, "providerData")
	switch textAt(row, "type") {
	case "custom-title":
		emitText(emit, Fact{Kind: Title, Source: agent.TitleNamed, Text: textAt(row, "customTitle")})
	case "ai-title":
		emitText(emit, Fact{Kind: Title, Source: agent.TitleGenerated, Text: textAt(row, "aiTitle")})
	case "topic":
		emitText(emit, Fact{Kind: Title, Source: agent.TitleGenerated, Text: textAt(row, "topic")})
	case "function_call":
		input, _ := jsontext.String(jsontext.Get(row, "arguments"))
		emit(Fact{Kind: CallBegan, At: at, Call: textAt(row, "callId"), Tool: textAt(row, "name"),
			Input: boundedCopy([]byte(input))})
	case "function_call_result":
		f := Fact{Kind: CallEnded, At: at, Call: textAt(row, "callId"), Tool: textAt(row, "name")}
		result := jsontext.Get(beside, "toolResult", "rawResponse")
		f.Denied = textAt(row, "status") == "incomplete"
		if f.Failed = isWord(result, "true", "is_error"); f.Failed {
			f.Text = textAt(row, "output", "text")
			f.Exit, _ = numberAt(result, "exitCode")
		}
		emit(f)
	case "message":
		words := contentText(jsontext.Get(row, "content"))
		if words == "" || textAt(beside, "agent") == "compact" || isWord(beside, "true", "isMeta") {
			return // the agent talks to itself
		}
		switch reason := textAt(beside, "error", "message"); {
		case textAt(row, "role") == "user":
			emit(Fact{Kind: Prompt, At: at, Text: words})
		case reason == "Interrupted by user":
			emit(Fact{Kind: Interrupted, At: at})
		case reason != "":
			emit(Fact{Kind: TurnEnded, At: at, Failed: true, Text: reason})
		default:
			emit(Fact{Kind: Message, At: at, Text: words})
		}
	}
}
