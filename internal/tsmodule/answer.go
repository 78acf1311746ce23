package tsmodule

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tsmodule/engine"
	"github.com/hookmux/hookmux/internal/tsmodule/pi"
)

// said is what the engine made of one shown event.
type said struct {
	Result json.RawMessage `json:"result"`
	Input  json.RawMessage `json:"input"`
	Threw  *engine.JSError `json:"threw"`
}

// judge makes one decision of everything the handlers said. notes are what
// they said and this agent cannot carry.
func (m *Module) judge(s *subject, events []shown, outcomes []*said) (d event.Decision, notes []string, err error) {
	extra := pi.Object{}
	input := s.input()
	for i, o := range outcomes {
		if o == nil || i >= len(events) {
			continue
		}
		if o.Threw != nil {
			m.limitsOf(o.Threw)
			return event.Decision{}, nil, o.Threw
		}
		r := pi.ParseObject(o.Result)
		one := event.Decision{}
		switch e := &events[i]; e.name {
		case "tool_call":
			if yes(r["block"]) {
				return event.Decision{Verdict: event.Deny, Reason: either(str(r["reason"]), "Tool execution was blocked")}, nil, nil
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
			judgeResult(s, e, r, &one, extra)
		case "input":
			switch str(r["action"]) {
			case "handled":
				return event.Decision{Verdict: event.Deny, Reason: "handled by the hook " + filepath.Base(m.path)}, nil, nil
			case "transform":
				if s.pi {
					extra["action"], extra["text"] = "transform", r["text"]
					if r["images"] != nil {
						extra["images"] = r["images"]
					}
				} else if text := str(r["text"]); text != s.ev.Prompt {
					one.Context = "The user's message as a hook rewrote it, to be taken instead of the original:\n" + text
					notes = append(notes, "input: a rewritten prompt is given as context beside the original")
				}
			}
		case "before_agent_start":
			judgeStart(s, r, &one, extra, &notes)
		case "agent_before_settle":
			if yes(r["continue"]) {
				one.KeepGoing = true
				one.Reason = either(texts(list(r["entries"])), "A hook asks you to go on.")
			}
		default:
			notes = append(notes, judgeOther(m.path, s, e, r, &one, extra)...)
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

// limitsOf says in words which limit an exception stands for.
func (m *Module) limitsOf(e *engine.JSError) {
	if e.Name == "InternalError" && e.Message == "interrupted" {
		*e = engine.JSError{Message: engine.SliceError{Limit: m.engine.host.Limits.Slice}.Error()}
	} else if e.Name == "InternalError" {
		e.Message = strings.Replace(e.Message, "out of memory", engine.ErrMemory.Error(), 1)
	}
}

func (s *subject) input() json.RawMessage {
	if s.ev.Tool == nil {
		return nil
	}
	return s.ev.Tool.CurrentInput()
}

// judgeResult takes what a handler made of a tool's result.
func judgeResult(s *subject, e *shown, r pi.Object, d *event.Decision, extra pi.Object) {
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

// judgeStart takes what a handler adds before the model is asked.
func judgeStart(s *subject, r pi.Object, d *event.Decision, extra pi.Object, notes *[]string) {
	var words []string
	for _, message := range list(r["messages"]) {
		if text := texts([]any{message}); text != "" {
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
	if more := str(r["systemPromptAppend"]); more != "" {
		words = append(words, more)
		if !s.pi {
			*notes = append(*notes, "before_agent_start: words for the system prompt are given as context")
		}
	}
	d.Context = strings.Join(words, "\n\n")
}

// judgeOther: what may be cancelled, and what only pi can make something of.
func judgeOther(path string, s *subject, e *shown, r pi.Object, d *event.Decision, extra pi.Object) (notes []string) {
	if r == nil {
		return nil
	}
	if yes(r["cancel"]) {
		*d = event.Decision{Verdict: event.Deny, Reason: "cancelled by the hook " + filepath.Base(path)}
		return nil
	}
	if !s.pi {
		for _, key := range []string{"compaction", "compactionEntry", "skipConversationRestore", "continue", "entries", "message", "messages"} {
			if r[key] != nil {
				notes = append(notes, e.name+": "+key+" is taken by pi only")
			}
		}
		return notes
	}
	if entry, ok := r["compactionEntry"].(pi.Object); ok {
		extra["compaction"] = s.compaction(entry)
		delete(r, "compactionEntry")
	}
	for key, value := range r {
		extra[key] = value
	}
	return nil
}

// compaction puts the first generation's entry into today's form: it names the
// first entry to keep by its place, pi by its id.
func (s *subject) compaction(entry pi.Object) pi.Object {
	out := pi.Object{"summary": entry["summary"], "tokensBefore": entry["tokensBefore"]}
	prep, _ := s.own["preparation"].(pi.Object)
	out["firstKeptEntryId"] = prep["firstKeptEntryId"]
	entries := list(s.own["branchEntries"])
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

// texts are the words of messages or entries.
func texts(items []any) string {
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

func yes(v any) bool { b, ok := v.(bool); return ok && b }

func str(v any) string { s, _ := v.(string); return s }

func either(text, otherwise string) string {
	if strings.TrimSpace(text) == "" {
		return otherwise
	}
	return text
}

var errNoAnswer = errors.New("gave no answer before the agent's time for this event was over")
