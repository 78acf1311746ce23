package transcript

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// interruptedByUser begins the row that Claude Code writes when you stop it; no hook reports
// it.
const interruptedByUser = "[Request interrupted by user"

// claudeRow reads a row of ~/.claude/projects/<dir>/<session>.jsonl. Rows come
// nested (type and message) and, from old versions, flat (role and content).
func claudeRow(row []byte, _ string, emit func(Fact)) {
	kind := textAt(row, "type")
	switch kind {
	case "custom-title":
		emitText(emit, Fact{Kind: Title, Source: agent.TitleNamed, Text: textAt(row, "customTitle")})
		return
	case "ai-title":
		emitText(emit, Fact{Kind: Title, Source: agent.TitleGenerated, Text: textAt(row, "aiTitle")})
		return
	case "summary":
		emitText(emit, Fact{Kind: Title, Source: agent.TitleGenerated, Text: textAt(row, "summary")})
		return
	case "api-request-blob": // what was sent to the model: the rows of its messages stand beside it
		return
	}
	message := jsontext.Get(row, "message")
	if message == nil {
		message = row // flat
	}
	role := textAt(message, "role")
	if role == "" {
		role = kind
	}
	if role != "user" && role != "assistant" || isWord(row, "true", "isSidechain") {
		return
	}
	at, turn := timeAt(row, "timestamp"), textAt(row, "promptId")
	content := jsontext.Get(message, "content")
	claudeBlocks(content, func(block []byte) {
		switch textAt(block, "type") {
		case "tool_use":
			emit(Fact{Kind: CallBegan, At: at, Turn: turn, Call: textAt(block, "id"), Tool: textAt(block, "name"),
				Input: boundedCopy(jsontext.Get(block, "input"))})
		case "tool_result":
			f := Fact{Kind: CallEnded, At: at, Turn: turn, Call: textAt(block, "tool_use_id"),
				Failed: isWord(block, "true", "is_error")}
			if f.Failed {
				f.Text = contentText(jsontext.Get(block, "content"))
				f.Exit = exitCode(f.Text)
			}
			// A call that was stopped with Esc is written down as refused as well.
			kind := textAt(row, "toolDenialKind")
			f.Denied, f.Stopped = kind != "", kind == "user-rejected"
			if f.Denied {
				f.Failed = false // refused, not failed
			}
			emit(f)
		}
	})
	words := contentText(content)
	if words == "" {
		return
	}
	if role == "assistant" {
		if isWord(row, "true", "isApiErrorMessage") {
			emit(Fact{Kind: TurnEnded, At: at, Turn: turn, Failed: true, Text: words})
			return
		}
		emit(Fact{Kind: Message, At: at, Turn: turn, Text: words})
		return
	}
	switch {
	case strings.HasPrefix(words, interruptedByUser):
		// It names the message whose call it stopped; after a no there was none to stop.
		emit(Fact{Kind: Interrupted, At: at, Turn: turn, Stopped: textAt(row, "interruptedMessageId") != ""})
	case isWord(row, "true", "isMeta"), isWord(row, "true", "isCompactSummary"):
	default:
		emit(Fact{Kind: Prompt, At: at, Turn: turn, Text: words})
	}
}

func claudeBlocks(content []byte, block func([]byte)) {
	if jsontext.IsArray(content) {
		_ = jsontext.Array(content, func(b []byte) bool { block(b); return true })
	}
}

// exitCode reads "Exit code 3" off the beginning of an error.
func exitCode(text string) int {
	rest, ok := strings.CutPrefix(text, "Exit code ")
	if !ok {
		return 0
	}
	n := 0
	for _, c := range rest {
		if c < '0' || c > '9' || n > 1000 {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}
