package transcript

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// grokRow is the record hooks name; what it says is said by hooks as well, so
// nothing is read from it. It is followed because names lie beside it.
func grokRow([]byte, string, func(Fact)) {}

// grokHistoryRow reads chat_history.jsonl beside the record.
func grokHistoryRow(row []byte, _ string, emit func(Fact)) {
	at := when(row, "timestamp")
	content := jsonscan.Get(row, "content")
	switch text(row, "type") {
	case "assistant":
		said(emit, Fact{Kind: Message, At: at, Text: words(content)})
	case "user":
		words := words(content)
		if _, rest, ok := strings.Cut(words, "<user_query>"); ok {
			words, _, _ = strings.Cut(rest, "</user_query>")
		} else if strings.HasPrefix(strings.TrimSpace(words), "<") {
			return // the agent's own words to the model
		}
		said(emit, Fact{Kind: Prompt, At: at, Text: words})
	}
}

// grokSummary reads summary.json beside the record.
func grokSummary(doc []byte, _ string, emit func(Fact)) {
	for _, key := range []string{"generated_title", "session_summary", "title"} {
		if title := text(doc, key); strings.TrimSpace(title) != "" {
			emit(Fact{Kind: Title, Source: agent.TitleGenerated, Text: title})
			return
		}
	}
}
