package transcript

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
)

// kimiRow is followed because the session's state lies beside it; what it
// says is said by hooks as well.
func kimiRow([]byte, string, func(Fact)) {}

// kimiState reads state.json, where the session's title stands.
func kimiState(doc []byte, _ string, emit func(Fact)) {
	for _, key := range []string{"custom_title", "title"} {
		if title := text(doc, key); strings.TrimSpace(title) != "" {
			emit(Fact{Kind: Title, Source: agent.TitleNamed, Text: title})
			return
		}
	}
}

// droidRow reads a row of ~/.factory/sessions/<dir>/<session>.jsonl.
func droidRow(row []byte, session string, emit func(Fact)) {
	if text(row, "type") == "session_start" {
		said(emit, Fact{Kind: Title, Source: agent.TitleIndex, Text: text(row, "title")})
		return
	}
	claudeRow(row, session, emit)
}
