package transcript

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// droidRow reads a row of ~/.factory/sessions/<dir>/<session>.jsonl. Messages
// look like Claude's; a failed call is reported by no hook.
func droidRow(row []byte, session string, emit func(Fact)) {
	switch textAt(row, "type") {
	case "session_start":
		source := agent.TitleIndex
		if isWord(row, "true", "isSessionTitleManuallySet") {
			source = agent.TitleNamed
		}
		emitText(emit, Fact{Kind: Title, Source: source, Text: textAt(row, "title")})
	case "agent_turn_outcome":
		f := Fact{Kind: TurnEnded, Turn: textAt(row, "turnId")}
		switch textAt(row, "reason") {
		case "completed":
		case "cancelled", "interrupted", "aborted":
			f.Kind = Interrupted
		default:
			f.Failed, f.Text = true, textAt(row, "reason")
		}
		emit(f)
	case "message":
		if textAt(row, "message", "visibility") == "user_only" || jsontext.Get(row, "message", "hookEventName") != nil {
			return
		}
		claudeRow(row, session, emit)
	}
}
