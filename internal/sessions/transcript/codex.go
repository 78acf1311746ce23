package transcript

import (
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// codexRow reads a row of a rollout. The exit codes of commands are nowhere else.
func codexRow(row []byte, _ string, emit func(Fact)) {
	at := timeAt(row, "timestamp")
	payload := jsontext.Get(row, "payload")
	turn := textAt(payload, "turn_id")
	switch textAt(row, "type") {
	case "turn_context":
		emitReviewer(emit, at, textAt(payload, "approvals_reviewer"))
	case "response_item":
		switch textAt(payload, "type") {
		case "function_call", "custom_tool_call", "local_shell_call":
			emit(Fact{Kind: CallBegan, At: at, Turn: codexTurn(payload, turn), Call: textAt(payload, "call_id"),
				Tool: textAt(payload, "name"), Input: boundedCopy(codexInput(payload))})
		case "function_call_output", "custom_tool_call_output":
			output := textAt(payload, "output")
			emit(Fact{Kind: CallEnded, At: at, Turn: codexTurn(payload, turn), Call: textAt(payload, "call_id"),
				Stopped: strings.HasSuffix(output, "aborted by user"), Denied: refusedByReviewer(output)})
		}
	case "event_msg":
		switch textAt(payload, "type") {
		case "task_started":
			emit(Fact{Kind: TurnStarted, At: at, Turn: turn})
		case "task_complete", "turn_complete":
			f := Fact{Kind: TurnEnded, At: at, Turn: turn, Text: textAt(payload, "last_agent_message")}
			if reason := jsontext.Get(payload, "error"); len(reason) > 0 && string(reason) != "null" {
				f.Failed = true
				if f.Text = textAt(reason, "message"); f.Text == "" {
					f.Text, _ = jsontext.String(reason)
				}
			}
			emit(f)
		case "turn_aborted":
			emit(Fact{Kind: Interrupted, At: at, Turn: turn})
		case "thread_settings_applied":
			emitReviewer(emit, at, textAt(payload, "thread_settings", "approvals_reviewer"))
		case "thread_name_updated":
			emitText(emit, Fact{Kind: Title, At: at, Source: agent.TitleNamed, Text: textAt(payload, "thread_name")})
		case "user_message":
			emitText(emit, Fact{Kind: Prompt, At: at, Turn: turn, Text: textAt(payload, "message")})
		case "agent_message":
			emitText(emit, Fact{Kind: Message, At: at, Turn: turn, Text: textAt(payload, "message")})
		case "item_completed":
			codexItem(jsontext.Get(payload, "item"), Fact{At: at, Turn: turn}, emit)
		}
	}
}

// reviewerRefusals begin the result of a call that Codex's own reviewer denied, or couldn't
// decide. What a hook or you deny is reported by its own event.
var reviewerRefusals = []string{
	"This action was rejected due to unacceptable risk", "Automatic approval review",
}

// refusedByReviewer reads the result of a call: nothing ran, and the reviewer is why.
func refusedByReviewer(output string) bool {
	_, why, rejected := strings.Cut(output, "Rejected(")
	why = strings.TrimLeft(why, `\"`)
	if !rejected || !strings.HasPrefix(output, "exec_command failed: ") && !strings.HasPrefix(output, "apply_patch ") {
		return false
	}
	return slices.ContainsFunc(reviewerRefusals, func(begin string) bool { return strings.HasPrefix(why, begin) })
}

// emitReviewer reports who decides about permission requests. Codex calls you "user"; every
// other name is a reviewer of its own.
func emitReviewer(emit func(Fact), at time.Time, name string) {
	switch name {
	case "": // older versions name nobody
	case "user":
		emit(Fact{Kind: Reviews, At: at, Reviewer: event.ReviewerUser})
	default:
		emit(Fact{Kind: Reviews, At: at, Reviewer: event.ReviewerAgent})
	}
}

// codexItem reads what was finished.
func codexItem(item []byte, f Fact, emit func(Fact)) {
	switch textAt(item, "type") {
	case "UserMessage":
		f.Kind, f.Text = Prompt, contentText(jsontext.Get(item, "content"))
		emitText(emit, f)
	case "AgentMessage":
		f.Kind, f.Text = Message, contentText(jsontext.Get(item, "content"))
		emitText(emit, f)
	case "CommandExecution":
		f.Kind, f.Call, f.Tool = CallEnded, textAt(item, "id"), "Bash"
		f.Exit, _ = numberAt(item, "exit_code")
		f.Failed = f.Exit != 0 || textAt(item, "status") == "failed"
		f.Denied = textAt(item, "status") == "declined"
		if f.Failed {
			f.Text = textAt(item, "aggregated_output")
			f.Input = codexCommand(item)
		}
		emit(f)
	case "FileChange", "McpToolCall":
		f.Kind, f.Call = CallEnded, textAt(item, "id")
		f.Failed = textAt(item, "status") == "failed"
		f.Denied = textAt(item, "status") == "declined"
		if f.Failed {
			f.Text = textAt(item, "stderr")
		}
		emit(f)
	}
}

// codexCommand returns the command that was run, as a tool's input has it: the
// last word of ["/bin/bash", "-lc", "…"].
func codexCommand(item []byte) []byte {
	var last []byte
	_ = jsontext.Array(jsontext.Get(item, "command"), func(word []byte) bool { last = word; return true })
	if len(last) == 0 || len(last) > maxText {
		return nil
	}
	return append(append([]byte(`{"command":`), last...), '}')
}

// codexInput returns a call's input, which is written there as text.
func codexInput(payload []byte) []byte {
	for _, key := range []string{"arguments", "input"} {
		if s, ok := jsontext.String(jsontext.Get(payload, key)); ok {
			return []byte(s)
		}
	}
	return jsontext.Get(payload, "action")
}

func codexTurn(payload []byte, turn string) string {
	if turn != "" {
		return turn
	}
	return textAt(payload, "internal_chat_message_metadata_passthrough", "turn_id")
}

// codexIndexRow reads session_index.jsonl, which has the names of all threads; the last row
// of a thread is current.
func codexIndexRow(row []byte, session string, emit func(Fact)) {
	if textAt(row, "id") == session {
		emitText(emit, Fact{Kind: Title, At: timeAt(row, "updated_at"), Source: agent.TitleIndex,
			Text: textAt(row, "thread_name")})
	}
}
