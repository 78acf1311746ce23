package transcript

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// grokRow reads a row of updates.jsonl, the record hooks name. Messages come
// there in pieces; chat_history.jsonl beside it has them whole.
func grokRow(row []byte, _ string, emit func(Fact)) {
	update := jsontext.Get(row, "params", "update")
	at := timeAt(row, "timestamp")
	call := textAt(update, "toolCallId")
	switch textAt(update, "sessionUpdate") {
	case "tool_call":
		tool := textAt(update, "_meta", "x.ai/tool", "name")
		if tool == "" {
			tool = textAt(update, "title")
		}
		emit(Fact{Kind: CallBegan, At: at, Call: call, Tool: tool,
			Input: boundedCopy(jsontext.Get(update, "rawInput"))})
	case "tool_call_update":
		status := textAt(update, "status")
		if status != "completed" && status != "failed" {
			return
		}
		f := Fact{Kind: CallEnded, At: at, Call: call, Failed: status == "failed"}
		f.Exit, _ = numberAt(update, "rawOutput", "exit_code")
		if f.Failed = f.Failed || f.Exit != 0; f.Failed {
			f.Text = textAt(update, "rawOutput", "output_for_prompt")
		}
		emit(f)
	case "turn_completed":
		f := Fact{Kind: TurnEnded, At: at, Turn: textAt(update, "prompt_id")}
		switch textAt(update, "stop_reason") {
		case "cancelled":
			f.Kind = Interrupted
		case "error":
			f.Failed, f.Text = true, textAt(update, "agent_result")
		}
		emit(f)
	}
}

// grokHistoryRow reads chat_history.jsonl beside the record.
func grokHistoryRow(row []byte, _ string, emit func(Fact)) {
	at := timeAt(row, "timestamp")
	content := jsontext.Get(row, "content")
	switch textAt(row, "type") {
	case "assistant":
		emitText(emit, Fact{Kind: Message, At: at, Text: contentText(content)})
	case "user":
		words := contentText(content)
		if _, rest, ok := strings.Cut(words, "<user_query>"); ok {
			words, _, _ = strings.Cut(rest, "</user_query>")
		} else if strings.HasPrefix(strings.TrimSpace(words), "<") {
			return // the agent's own words to the model
		}
		emitText(emit, Fact{Kind: Prompt, At: at, Text: words})
	}
}

// grokSummary reads summary.json beside the record.
func grokSummary(doc []byte, _ string, emit func(Fact)) {
	for _, key := range []string{"generated_title", "session_summary", "title"} {
		if title := textAt(doc, key); strings.TrimSpace(title) != "" {
			emit(Fact{Kind: Title, Source: agent.TitleGenerated, Text: title})
			return
		}
	}
}
