package transcript

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// codebuddyRow reads a row of ~/.codebuddy/projects/<dir>/<session>.jsonl. An
// interrupt and a failed request to the model come as words of the agent with
// an error beside them; its hooks report both as a plain end.
func codebuddyRow(row []byte, _ string, emit func(Fact)) {
	at := when(row, "timestamp")
	beside := jsonscan.Get(row, "providerData")
	switch text(row, "type") {
	case "custom-title":
		said(emit, Fact{Kind: Title, Source: agent.TitleNamed, Text: text(row, "customTitle")})
	case "ai-title":
		said(emit, Fact{Kind: Title, Source: agent.TitleGenerated, Text: text(row, "aiTitle")})
	case "topic":
		said(emit, Fact{Kind: Title, Source: agent.TitleGenerated, Text: text(row, "topic")})
	case "function_call":
		input, _ := jsonscan.String(jsonscan.Get(row, "arguments"))
		emit(Fact{Kind: CallBegan, At: at, Call: text(row, "callId"), Tool: text(row, "name"), Input: bounded([]byte(input))})
	case "function_call_result":
		f := Fact{Kind: CallEnded, At: at, Call: text(row, "callId"), Tool: text(row, "name")}
		result := jsonscan.Get(beside, "toolResult", "rawResponse")
		f.Denied = text(row, "status") == "incomplete"
		if f.Failed = is(result, "true", "is_error"); f.Failed {
			f.Text = text(row, "output", "text")
			f.Exit, _ = number(result, "exitCode")
		}
		emit(f)
	case "message":
		words := words(jsonscan.Get(row, "content"))
		if words == "" || text(beside, "agent") == "compact" || is(beside, "true", "isMeta") {
			return // the agent talks to itself
		}
		switch reason := text(beside, "error", "message"); {
		case text(row, "role") == "user":
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
