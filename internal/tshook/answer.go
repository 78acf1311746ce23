package tshook

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tshook/engine"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// outcome holds what the handlers of one presented event returned.
type outcome struct {
	Result json.RawMessage `json:"result"`
	Input  json.RawMessage `json:"input"`
	Threw  *engine.JSError `json:"threw"`
}

// mergeOutcomes makes one decision from what the handlers returned. notes name the
// parts that this agent cannot carry.
func (m *Hook) mergeOutcomes(s *subject, events []presentedEvent, outcomes []*outcome) (d event.Decision,
	notes []string, err error) {
	extra := pi.Object{}
	input := s.toolInput()
	for i, o := range outcomes {
		if o == nil || i >= len(events) {
			continue
		}
		if o.Threw != nil {
			m.explainLimit(o.Threw)
			return event.Decision{}, nil, o.Threw
		}
		r := pi.ParseObject(o.Result)
		one := event.Decision{}
		switch e := &events[i]; e.name {
		case "tool_call":
			if isTrue(r["terminate"]) {
				notes = append(notes, "tool_call: terminate is left out; the call is refused or runs, and the "+
					"turn goes on")
			}
			if isTrue(r["block"]) {
				return event.Decision{Verdict: event.Deny,
					Reason: orElse(asString(r["reason"]), "Tool execution was blocked")}, notes, nil
			}
			if o.Input != nil {
				e.call.Unfold()
				e.call.Native = pi.ParseObject(input) // as the commands before this one left it
				patch, err := e.call.Back(pi.ParseObject(o.Input))
				if err != nil {
					return event.Decision{}, nil, err
				}
				if patch != nil {
					one.Input = pi.Encode(patch)
					input = event.MergeObjects(input, one.Input)
				}
			}
		case "tool_result":
			takeToolResult(s, e, r, &one, extra)
		case "input":
			switch asString(r["action"]) {
			case "handled":
				return event.Decision{Verdict: event.Deny, Reason: "handled by the hook " + filepath.Base(m.path)}, nil,
					nil
			case "transform":
				if s.pi {
					extra["action"], extra["text"] = "transform", r["text"]
					if r["images"] != nil {
						extra["images"] = r["images"]
					}
				} else if text := asString(r["text"]); text != s.ev.Prompt {
					one.Context = "The user's message as a hook rewrote it, to be taken instead of the original:\n" +
						text
					notes = append(notes, "input: a rewritten prompt is given as context beside the original")
				}
			}
		case "before_agent_start":
			takeAgentStart(s, r, &one, extra, &notes)
		case "agent_before_settle":
			if isTrue(r["continue"]) {
				one.KeepGoing = true
				one.Reason = orElse(joinTexts(asList(r["entries"])), "A hook asks you to go on.")
			}
		default:
			notes = append(notes, takeOtherResult(m.path, s, e, r, &one, extra)...)
		}
		d.Merge(one)
		if d.Verdict == event.Deny {
			return d, notes, nil
		}
	}
	if len(extra) > 0 {
		d.Extra = pi.Encode(extra)
	}
	return d, notes, nil
}

// explainLimit says which limit was behind an exception.
func (m *Hook) explainLimit(e *engine.JSError) {
	if e.IsInterrupted() {
		*e = engine.JSError{Message: engine.SliceError{Limit: m.engine.host.Limits.Slice}.Error()}
	} else if e.IsOutOfMemory() {
		e.Message = e.MemoryMessage()
	}
}

func (s *subject) toolInput() json.RawMessage {
	if s.ev.Tool == nil {
		return nil
	}
	return s.ev.Tool.CurrentInput()
}

// takeToolResult puts a handler's answer to tool_result into the decision.
func takeToolResult(s *subject, e *presentedEvent, r pi.Object, d *event.Decision, extra pi.Object) {
	if content, ok := r["content"].([]any); ok {
		d.Output = e.result.Back(content, s.pi)
	} else if text, ok := r["content"].(string); ok {
		d.Output = e.result.Back(pi.TextContent(text), s.pi)
	}
	if !s.pi {
		return
	}
	for _, key := range []string{"details", "structuredContent", "isError", "usage"} {
		if r[key] != nil {
			extra[key] = r[key]
		}
	}
}

// takeAgentStart puts a handler's answer to before_agent_start into the decision.
func takeAgentStart(s *subject, r pi.Object, d *event.Decision, extra pi.Object, notes *[]string) {
	var words []string
	for _, message := range asList(r["messages"]) {
		if text := joinTexts([]any{message}); text != "" {
			words = append(words, text)
		}
	}
	if prompt, ok := r["systemPrompt"].(string); ok {
		if s.pi {
			extra["systemPrompt"] = prompt
		} else if strings.TrimSpace(prompt) != "" {
			words = append(words, strings.TrimSpace(prompt))
			*notes = append(*notes, "before_agent_start: words for the system prompt are given as context")
		}
	}
	if more := asString(r["systemPromptAppend"]); more != "" {
		words = append(words, more)
		if !s.pi {
			*notes = append(*notes, "before_agent_start: words for the system prompt are given as context")
		}
	}
	d.Context = strings.Join(words, "\n\n")
}

// takeOtherResult handles events that can be cancelled, and members that only pi
// understands.
func takeOtherResult(path string, s *subject, e *presentedEvent, r pi.Object, d *event.Decision,
	extra pi.Object) (notes []string) {
	if r == nil {
		return nil
	}
	if isTrue(r["cancel"]) {
		*d = event.Decision{Verdict: event.Deny, Reason: "cancelled by the hook " + filepath.Base(path)}
		return nil
	}
	if !s.pi {
		for _, key := range []string{"compaction", "compactionEntry", "skipConversationRestore", "continue", "entries",
			"message", "messages"} {
			if r[key] != nil {
				notes = append(notes, e.name+": "+key+" is taken by pi only")
			}
		}
		return notes
	}
	if entry, ok := r["compactionEntry"].(pi.Object); ok {
		extra["compaction"] = s.compactionForPi(entry)
		delete(r, "compactionEntry")
	}
	for key, value := range r {
		extra[key] = value
	}
	return nil
}

// compactionForPi converts the first generation's compaction entry to the current
// form: the old one names the first entry to keep by its index, pi by its id.
func (s *subject) compactionForPi(entry pi.Object) pi.Object {
	out := pi.Object{"summary": entry["summary"], "tokensBefore": entry["tokensBefore"]}
	prep, _ := s.own["preparation"].(pi.Object)
	out["firstKeptEntryId"] = prep["firstKeptEntryId"]
	entries := asList(s.own["branchEntries"])
	if at, ok := entry["firstKeptEntryIndex"].(json.Number); ok && len(entries) > 0 {
		if i, err := at.Int64(); err == nil && i >= int64(len(entries)) {
			out["firstKeptEntryId"] = nil // nothing is kept
		} else if err == nil && i >= 0 {
			if kept, ok := entries[i].(pi.Object); ok && kept["id"] != nil {
				out["firstKeptEntryId"] = kept["id"]
			}
		}
	}
	return out
}

// joinTexts returns the text of messages or entries.
func joinTexts(items []any) string {
	var out []string
	for _, item := range items {
		o, ok := item.(pi.Object)
		if !ok {
			continue
		}
		if inner, ok := o["message"].(pi.Object); ok {
			o = inner
		}
		switch content := o["content"].(type) {
		case string:
			out = append(out, content)
		case []any:
			for _, p := range content {
				if part, ok := p.(pi.Object); ok {
					if text, ok := part["text"].(string); ok {
						out = append(out, text)
					}
				}
			}
		}
	}
	return strings.Join(out, "\n")
}

func isTrue(v any) bool { b, ok := v.(bool); return ok && b }

func asString(v any) string { s, _ := v.(string); return s }

func orElse(text, otherwise string) string {
	if strings.TrimSpace(text) == "" {
		return otherwise
	}
	return text
}

var errNoAnswer = errors.New("gave no answer before the agent's time for this event was over")
