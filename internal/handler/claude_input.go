package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
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

// ClaudeInput returns the event as Claude Code would put it on a hook's stdin. Of a
// call with several commands or files it shows the first.
func ClaudeInput(ev *event.Event) []byte {
	if speaksClaude(ev) {
		return claudeOwn(ev)
	}
	var call *presented
	if ev.Tool != nil {
		subjects := subjectsOf(ev.Tool)
		call = inClaudesWords(ev.Tool, ev.Tool.CurrentInput(), firstText(subjects))
	}
	return claudeInput(ev, call)
}

func firstText(list []string) string {
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
	return event.MergeObjects(ev.Raw, memberList{{"tool_input", ev.Tool.Changed}}.toJSON())
}

// claudeInput returns what Claude sends at this event; call is the tool call in Claude's
// format.
func claudeInput(ev *event.Event, call *presented) []byte {
	name := ClaudeEvent(ev)
	o := writer{b: make([]byte, 0, 512+len(ev.Raw))}
	o.openObject()
	o.textMember("session_id", ev.Session)
	o.textMember("transcript_path", ev.Transcript)
	o.textMember("cwd", ev.Cwd)
	o.someText("prompt_id", ev.Turn)
	switch name {
	case "SessionStart", "SessionEnd", "Notification", "FileChanged":
	default:
		o.textMember("permission_mode", firstSet(ev.Mode, "default"))
	}
	o.textMember("hook_event_name", name)
	if s := ev.Subagent; s != nil {
		o.someText("agent_id", s.ID)
		o.textMember("agent_type", s.Type)
	}
	if call != nil {
		o.textMember("tool_name", call.name)
		o.rawMember("tool_input", call.input)
		if name != "PermissionRequest" {
			o.someText("tool_use_id", ev.Tool.CallID)
		}
	}
	switch name {
	case "SessionStart":
		o.textMember("source", firstSet(ev.Detail, "startup"))
		o.someText("model", ev.Model)
		o.someText("session_title", ev.Title)
	case "SessionEnd":
		o.textMember("reason", firstSet(ev.Detail, "other"))
	case "UserPromptSubmit":
		o.textMember("prompt", ev.Prompt)
		o.someText("session_title", ev.Title)
	case "PostToolUse":
		if ev.Tool != nil {
			o.rawMember("tool_response", claudeResponse(ev.Tool))
			o.rawMember("duration_ms", encodeValue(ev.Tool.Duration.Milliseconds()))
		}
	case "PostToolUseFailure":
		o.textMember("error", firstSet(ev.Error, plainOutput(ev.Tool.Output)))
		o.flagMember("is_interrupt", false)
	case "Stop", "SubagentStop":
		o.flagMember("stop_hook_active", ev.GoingOn)
		o.textMember("last_assistant_message", ev.Message)
	case "StopFailure":
		o.textMember("error", ev.Error)
		o.someText("last_assistant_message", ev.Message)
	case "PreCompact":
		o.textMember("trigger", firstSet(ev.Detail, "auto"))
		o.textMember("custom_instructions", ev.Prompt)
	case "PostCompact":
		o.textMember("trigger", firstSet(ev.Detail, "auto"))
		o.someText("compact_summary", ev.Message)
	case "Notification":
		o.textMember("message", ev.Message)
		o.someText("notification_type", ev.Detail)
	case "Elicitation":
		o.textMember("message", ev.Message)
		o.someText("mcp_server_name", ev.Detail)
	case "FileChanged":
		o.textMember("file_path", ev.Message)
		o.textMember("event", firstSet(ev.Detail, "change"))
	default:
		o.someText("prompt", ev.Prompt)
		o.someText("message", ev.Message)
		o.someText("reason", ev.Detail)
		o.someText("error", ev.Error)
	}
	o.closeObject()
	return o.b
}

func firstSet(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// claudeResponse returns a tool's result; in Claude's format a shell's output is in stdout, and
// many hooks look for it there.
func claudeResponse(t *event.Tool) json.RawMessage {
	if len(t.Output) == 0 {
		return json.RawMessage("{}")
	}
	if _, isText := jsontext.String(t.Output); isText && t.Kind == event.Shell {
		var o writer
		o.openObject()
		o.rawMember("stdout", t.Output)
		o.textMember("stderr", "")
		o.flagMember("interrupted", false)
		o.flagMember("isImage", false)
		o.closeObject()
		return o.b
	}
	return t.Output
}

func plainOutput(output json.RawMessage) string {
	if text, ok := jsontext.String(output); ok {
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
		out, err := x.runProcess(ctx, s)
		if err != nil {
			return event.Decision{}, err
		}
		return ParseClaude(name, out)
	}
	if ev.Tool == nil || speaksClaude(ev) {
		d, err := ask(ClaudeInput(ev))
		if err == nil && d.Input != nil && ev.Tool != nil {
			own := presented{input: ev.Tool.CurrentInput(), shown: readMembers(ev.Tool.CurrentInput()), free: true}
			err = own.translateBack(&d)
		}
		if err != nil {
			return event.Decision{}, err
		}
		return d, nil
	}
	subjects, tooMany := boundRuns(ev.Tool, subjectsOf(ev.Tool))
	var all event.Decision
	approvals := 0
	input := ev.Tool.CurrentInput()
	for _, subject := range subjects {
		one := inClaudesWords(ev.Tool, input, subject)
		d, err := ask(claudeInput(ev, one))
		if err == nil {
			err = one.translateBack(&d)
		}
		if err != nil {
			return event.Decision{}, aboutEvent(subjects, subject, err)
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
		return event.Decision{}, fmt.Errorf("the call names %d more files than a hook in Claude's format is asked "+
			"about (%d)", tooMany, MaxRuns)
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

func aboutEvent(subjects []string, subject string, err error) error {
	if len(subjects) < 2 {
		return err
	}
	return fmt.Errorf("asked about %q: %w", termsafe.CutMarked(strings.Join(strings.Fields(subject), " "), 80), err)
}

// subjectsOf returns the commands or files that Claude would ask about one by one;
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

// boundRuns limits the number of runs. Commands can be shown together; files can't, and tooMany
// says how many remain unseen.
func boundRuns(t *event.Tool, subjects []string) (list []string, tooMany int) {
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
