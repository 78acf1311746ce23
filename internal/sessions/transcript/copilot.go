package transcript

import (
	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// copilotRow reads a row of ~/.copilot/session-state/<session>/events.jsonl.
func copilotRow(row []byte, _ string, emit func(Fact)) {
	at, data := timeAt(row, "timestamp"), jsontext.Get(row, "data")
	if textAt(data, "agentId") != "" || textAt(data, "parentToolCallId") != "" {
		return // a subagent's
	}
	call := textAt(data, "toolCallId")
	switch textAt(row, "type") {
	case "user.message":
		emitText(emit, Fact{Kind: Prompt, At: at, Text: textAt(data, "content")})
	case "assistant.message":
		emitText(emit, Fact{Kind: Message, At: at, Text: textAt(data, "content")})
	case "tool.execution_start":
		emit(Fact{Kind: CallBegan, At: at, Call: call, Tool: textAt(data, "toolName"),
			Input: boundedCopy(jsontext.Get(data, "arguments"))})
	case "tool.execution_complete":
		f := Fact{Kind: CallEnded, At: at, Call: call, Failed: isWord(data, "false", "success"),
			Text: textAt(data, "error", "message")}
		f.Exit, _ = numberAt(data, "shellExecution", "exitCode")
		f.Failed = f.Failed || f.Exit != 0
		if f.Denied = textAt(data, "error", "code") == "denied" ||
			textAt(data, "error", "code") == "rejected"; f.Denied {
			f.Failed = false
		}
		emit(f)
	case "permission.completed":
		kind := textAt(data, "result", "kind")
		emit(Fact{Kind: Decided, At: at, Call: call, Denied: kind != "approved" && kind != "approved-for-session" &&
			kind != "approved-for-location"})
	case "abort":
		emit(Fact{Kind: Interrupted, At: at})
	case "session.error":
		emitText(emit, Fact{Kind: TurnEnded, At: at, Failed: true, Text: textAt(data, "message")})
	case "session.title_changed":
		emitText(emit, Fact{Kind: Title, At: at, Source: agent.TitleIndex, Text: textAt(data, "title")})
	}
}

// copilotWorkspace reads workspace.yaml, which has the session's name: the first prompt
// until you give one.
func copilotWorkspace(doc []byte, _ string, emit func(Fact)) {
	var workspace struct {
		Name  any `yaml:"name"`
		Named any `yaml:"user_named"`
	}
	if yaml.Unmarshal(doc, &workspace) != nil {
		return
	}
	name, _ := workspace.Name.(string)
	source := agent.TitleIndex
	if named, _ := workspace.Named.(bool); named {
		source = agent.TitleNamed
	}
	emitText(emit, Fact{Kind: Title, Source: source, Text: termsafe.CutBytes(name, maxText)})
}
