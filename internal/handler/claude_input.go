package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// MaxRuns is how often one call is put to a hook in Claude's format. Commands
// beyond it are shown together with the last one; a call that names more
// files is a failure unless one of the first was denied.
const MaxRuns = 8

// speaksClaude reports whether the event is Claude Code's own. The format is
// named after the one agent that needs no translation.
func speaksClaude(ev *event.Event) bool { return ev.Agent == string(hook.Claude) }

// ClaudeEvent is Claude Code's name of an event, whatever the agent. Where
// Claude knows nothing like it the agent's own name stays.
func ClaudeEvent(ev *event.Event) string {
	if speaksClaude(ev) {
		return ev.Native
	}
	switch ev.Kind {
	case event.SessionStart:
		return "SessionStart"
	case event.SessionEnd:
		return "SessionEnd"
	case event.TurnStart:
		return "UserPromptSubmit"
	case event.TurnEnd:
		if ev.Error != "" {
			return "StopFailure"
		}
		return "Stop"
	case event.ToolBefore:
		return "PreToolUse"
	case event.ToolAfter:
		if ev.Tool != nil && ev.Tool.Failed {
			return "PostToolUseFailure"
		}
		return "PostToolUse"
	case event.PermissionRequest:
		return "PermissionRequest"
	case event.SubagentStart:
		return "SubagentStart"
	case event.SubagentEnd:
		return "SubagentStop"
	case event.CompactBefore:
		return "PreCompact"
	case event.CompactAfter:
		return "PostCompact"
	case event.UserAttention:
		return "Notification"
	case event.UserQuestion, event.UserPlan:
		if ev.Tool != nil {
			return "PreToolUse"
		}
		if ev.Kind == event.UserQuestion {
			return "Elicitation"
		}
	case event.FileChanged:
		return "FileChanged"
	}
	return ev.Native
}

// ClaudeInput is the event as Claude Code would put it on a hook's stdin. Of a
// call with several commands or files it shows the first.
func ClaudeInput(ev *event.Event) []byte {
	if speaksClaude(ev) {
		return claudeOwn(ev)
	}
	var call *presented
	if ev.Tool != nil {
		subjects := subjectsOf(ev.Tool)
		call = inClaudesWords(ev.Tool, ev.Tool.CurrentInput(), first(subjects))
	}
	return claudeInput(ev, call)
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// claudeOwn is Claude's own payload, with the input as hooks before changed it.
func claudeOwn(ev *event.Event) []byte {
	if ev.Tool == nil || ev.Tool.Changed == nil {
		return ev.Raw
	}
	return event.MergeObjects(ev.Raw, memberList{{"tool_input", ev.Tool.Changed}}.bytes())
}

// claudeInput writes what Claude sends at this event; call is the tool call in
// Claude's words.
func claudeInput(ev *event.Event, call *presented) []byte {
	name := ClaudeEvent(ev)
	o := writer{b: make([]byte, 0, 512+len(ev.Raw))}
	o.open()
	o.text("session_id", ev.Session)
	o.text("transcript_path", ev.Transcript)
	o.text("cwd", ev.Cwd)
	o.some("prompt_id", ev.Turn)
	switch name {
	case "SessionStart", "SessionEnd", "Notification", "FileChanged":
	default:
		o.text("permission_mode", either(ev.Mode, "default"))
	}
	o.text("hook_event_name", name)
	if s := ev.Subagent; s != nil {
		o.some("agent_id", s.ID)
		o.text("agent_type", s.Type)
	}
	if call != nil {
		o.text("tool_name", call.name)
		o.raw("tool_input", call.input)
		if name != "PermissionRequest" {
			o.some("tool_use_id", ev.Tool.CallID)
		}
	}
	switch name {
	case "SessionStart":
		o.text("source", either(ev.Detail, "startup"))
		o.some("model", ev.Model)
		o.some("session_title", ev.Title)
	case "SessionEnd":
		o.text("reason", either(ev.Detail, "other"))
	case "UserPromptSubmit":
		o.text("prompt", ev.Prompt)
		o.some("session_title", ev.Title)
	case "PostToolUse":
		if ev.Tool != nil {
			o.raw("tool_response", claudeResponse(ev.Tool))
			o.raw("duration_ms", encoded(ev.Tool.Duration.Milliseconds()))
		}
	case "PostToolUseFailure":
		o.text("error", either(ev.Error, plainOutput(ev.Tool.Output)))
		o.flag("is_interrupt", false)
	case "Stop", "SubagentStop":
		o.flag("stop_hook_active", ev.GoingOn)
		o.text("last_assistant_message", ev.Message)
	case "StopFailure":
		o.text("error", ev.Error)
		o.some("last_assistant_message", ev.Message)
	case "PreCompact":
		o.text("trigger", either(ev.Detail, "auto"))
		o.text("custom_instructions", ev.Prompt)
	case "PostCompact":
		o.text("trigger", either(ev.Detail, "auto"))
		o.some("compact_summary", ev.Message)
	case "Notification":
		o.text("message", ev.Message)
		o.some("notification_type", ev.Detail)
	case "Elicitation":
		o.text("message", ev.Message)
		o.some("mcp_server_name", ev.Detail)
	case "FileChanged":
		o.text("file_path", ev.Message)
		o.text("event", either(ev.Detail, "change"))
	default:
		o.some("prompt", ev.Prompt)
		o.some("message", ev.Message)
		o.some("reason", ev.Detail)
		o.some("error", ev.Error)
	}
	o.close()
	return o.b
}

func either(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// claudeResponse is a tool's result; what a shell printed stands under stdout
// in Claude's, and many hooks look for it there.
func claudeResponse(t *event.Tool) json.RawMessage {
	if len(t.Output) == 0 {
		return json.RawMessage("{}")
	}
	if _, isText := jsonscan.String(t.Output); isText && t.Kind == event.Shell {
		var o writer
		o.open()
		o.raw("stdout", t.Output)
		o.text("stderr", "")
		o.flag("interrupted", false)
		o.flag("isImage", false)
		o.close()
		return o.b
	}
	return t.Output
}

func plainOutput(output json.RawMessage) string {
	if text, ok := jsonscan.String(output); ok {
		return text
	}
	return string(output)
}

// handleClaude asks a hook in Claude's format, once for each command or file
// of the call. A later run sees the input as the earlier ones changed it.
func (x *external) handleClaude(ctx context.Context, call *hook.Call, s spec) (event.Decision, error) {
	ev := call.Event
	name := ClaudeEvent(ev)
	ask := func(payload []byte) (event.Decision, error) {
		s.stdin = payload
		out, err := x.run(ctx, s)
		if err != nil {
			return event.Decision{}, err
		}
		return ParseClaude(name, out)
	}
	if ev.Tool == nil || speaksClaude(ev) {
		d, err := ask(ClaudeInput(ev))
		if err == nil && d.Input != nil && ev.Tool != nil {
			own := presented{input: ev.Tool.CurrentInput(), shown: members(ev.Tool.CurrentInput()), free: true}
			err = own.translate(&d)
		}
		if err != nil {
			return event.Decision{}, err
		}
		return d, nil
	}
	subjects, tooMany := bounded(ev.Tool, subjectsOf(ev.Tool))
	var all event.Decision
	approvals := 0
	input := ev.Tool.CurrentInput()
	for _, subject := range subjects {
		one := inClaudesWords(ev.Tool, input, subject)
		d, err := ask(claudeInput(ev, one))
		if err == nil {
			err = one.translate(&d)
		}
		if err != nil {
			return event.Decision{}, about(subjects, subject, err)
		}
		if d.Verdict == event.Deny {
			return d, nil
		}
		if d.Verdict == event.Allow || d.Allowed {
			approvals++
		}
		if d.Input != nil {
			input = event.MergeObjects(input, d.Input)
		}
		all.Merge(d)
	}
	if tooMany > 0 && ev.Kind.Guarded() {
		return event.Decision{}, fmt.Errorf("the call names %d more files than a hook in Claude's format is asked about (%d)", tooMany, MaxRuns)
	}
	if approvals < len(subjects) || tooMany > 0 {
		// One approved command does not approve the others.
		all.Allowed = false
		if all.Verdict == event.Allow {
			all.Verdict, all.Reason = event.None, ""
		}
	}
	return all, nil
}

func about(subjects []string, subject string, err error) error {
	if len(subjects) < 2 {
		return err
	}
	return fmt.Errorf("asked about %q: %w", cut(strings.Join(strings.Fields(subject), " "), 80), err)
}

// subjectsOf are the commands or files that Claude would ask about one by one;
// a call without any is asked about once, as it is.
func subjectsOf(t *event.Tool) []string {
	var list []string
	switch t.Kind {
	case event.Shell:
		list = t.Commands
	case event.FileRead:
		if list = t.Reads; len(list) == 0 {
			list = t.Writes
		}
	case event.FileWrite, event.FileEdit:
		if list = t.Writes; len(list) == 0 {
			list = t.Reads
		}
	case event.Search:
		list = t.Reads
		if len(list) > 1 {
			list = list[:1] // one search, however many places
		}
	case event.Fetch:
		if t.URL != "" {
			list = []string{t.URL}
		}
	}
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// bounded keeps the number of runs in hand. Commands can be shown together;
// files cannot, and tooMany says how many stay unseen.
func bounded(t *event.Tool, subjects []string) (list []string, tooMany int) {
	if len(subjects) <= MaxRuns {
		return subjects, 0
	}
	list = append([]string(nil), subjects[:MaxRuns]...)
	if t.Kind == event.Shell {
		list[MaxRuns-1] = strings.Join(subjects[MaxRuns-1:], "\n")
		return list, 0
	}
	return list, len(subjects) - MaxRuns
}
