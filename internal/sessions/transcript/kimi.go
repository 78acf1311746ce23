package transcript

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// kimiRow reads a row of agents/main/wire.jsonl. Turn ids are left out: those
// of subagents are the same numbers.
func kimiRow(row []byte, _ string, emit func(Fact)) {
	if id := text(row, "agentId"); id != "" && id != "main" {
		return
	}
	at := when(row, "time")
	switch text(row, "type") {
	case "turn.prompt":
		emit(Fact{Kind: TurnStarted, At: at})
		if text(row, "origin", "kind") == "user" {
			said(emit, Fact{Kind: Prompt, At: at, Text: words(jsonscan.Get(row, "input"))})
		}
	case "turn.cancel":
		emit(Fact{Kind: Interrupted, At: at})
	case "turn.ended":
		switch reason := text(row, "reason"); reason {
		case "completed":
			emit(Fact{Kind: TurnEnded, At: at})
		case "failed", "error":
			emit(Fact{Kind: TurnEnded, At: at, Failed: true, Text: text(row, "error", "message")})
		}
	case "context.append_loop_event":
		kimiLoop(jsonscan.Get(row, "event"), Fact{At: at}, emit)
	}
}

func kimiLoop(event []byte, f Fact, emit func(Fact)) {
	f.Call = text(event, "toolCallId")
	switch text(event, "type") {
	case "content.part":
		if text(event, "part", "type") == "text" {
			f.Kind, f.Text = Message, text(event, "part", "text")
			said(emit, f)
		}
	case "tool.call":
		f.Kind, f.Tool, f.Input = CallBegan, text(event, "name"), bounded(jsonscan.Get(event, "args"))
		emit(f)
	case "tool.result":
		f.Kind, f.Failed = CallEnded, is(event, "true", "result", "isError")
		if f.Failed {
			f.Text = text(event, "result", "output")
		}
		emit(f)
	}
}

// kimiState reads state.json, where the session's title stands.
func kimiState(doc []byte, _ string, emit func(Fact)) {
	source := agent.TitlePayload
	if is(doc, "true", "isCustomTitle") {
		source = agent.TitleNamed
	}
	if title := text(doc, "title"); strings.TrimSpace(title) != "" {
		emit(Fact{Kind: Title, Source: source, Text: title})
	}
}
