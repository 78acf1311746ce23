package transcript

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// kimiRow reads a row of agents/main/wire.jsonl. Turn ids are left out: those
// of subagents are the same numbers.
func kimiRow(row []byte, _ string, emit func(Fact)) {
	if id := textAt(row, "agentId"); id != "" && id != "main" {
		return
	}
	at := timeAt(row, "time")
	switch textAt(row, "type") {
	case "turn.prompt":
		emit(Fact{Kind: TurnStarted, At: at})
		if textAt(row, "origin", "kind") == "user" {
			emitText(emit, Fact{Kind: Prompt, At: at, Text: contentText(jsontext.Get(row, "input"))})
		}
	case "turn.cancel":
		emit(Fact{Kind: Interrupted, At: at})
	case "turn.ended":
		switch reason := textAt(row, "reason"); reason {
		case "completed":
			emit(Fact{Kind: TurnEnded, At: at})
		case "failed", "error":
			emit(Fact{Kind: TurnEnded, At: at, Failed: true, Text: textAt(row, "error", "message")})
		}
	case "context.append_loop_event":
		kimiLoop(jsontext.Get(row, "event"), Fact{At: at}, emit)
	}
}

func kimiLoop(event []byte, f Fact, emit func(Fact)) {
	f.Call = textAt(event, "toolCallId")
	switch textAt(event, "type") {
	case "content.part":
		if textAt(event, "part", "type") == "text" {
			f.Kind, f.Text = Message, textAt(event, "part", "text")
			emitText(emit, f)
		}
	case "tool.call":
		f.Kind, f.Tool, f.Input = CallBegan, textAt(event, "name"), boundedCopy(jsontext.Get(event, "args"))
		emit(f)
	case "tool.result":
		f.Kind, f.Failed = CallEnded, isWord(event, "true", "result", "isError")
		if f.Failed {
			f.Text = textAt(event, "result", "output")
		}
		emit(f)
	}
}

// kimiState reads state.json, which has the session's title.
func kimiState(doc []byte, _ string, emit func(Fact)) {
	source := agent.TitlePayload
	if isWord(doc, "true", "isCustomTitle") {
		source = agent.TitleNamed
	}
	if title := textAt(doc, "title"); strings.TrimSpace(title) != "" {
		emit(Fact{Kind: Title, Source: source, Text: title})
	}
}
