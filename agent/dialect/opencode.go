package dialect

import (
	"encoding/json"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// OpenCode's hooks return nothing: they throw, or change what they were given
// in place, and bus events are answered through the client OpenCode injects.
// The answer says which of these our plugin does:
//
//	throw    throw an Error with this text; after a prompt also shown as a toast
//	output   overrides the hook's output key by key, in place (never replaced:
//	         OpenCode keeps the old object)
//	context  at chat.message added after the prompt's last text part; at
//	         experimental.session.compacting pushed on output.context
//	reply    answer of a permission: once, always or reject, with message if
//	         rejected
//	answers  answers of a question: one list of labels or own texts for each
//	reject   dismiss a question
//	prompt   another prompt for the session, sent once it is idle
//
// An answer that is empty, or can't be read, is no opinion. A before-hook that
// waits when its session is aborted throws, whatever the answer will be: the
// tool would run otherwise.
var opencode = Dialect{
	Finish: opencodeFinish,
	Encode: opencodeEncode,
	Shapes: []string{ShapeTool, ShapeResult, ShapePrompt, ShapePermission, ShapeQuestion, ShapeBlock, ShapeContext},
	Takes:  map[string]Takes{ShapePermission: TakesSuggestion, ShapeQuestion: TakesAnswers},
}

// opencodeFinish finds the subagent and a command's failure. A child session reports
// under its own id, and the plugin says whose child it is. A shell command that failed
// is reported as completed.
func opencodeFinish(got Decoded) *event.Subagent {
	if t := got.Tool; t != nil && got.Kind == event.ToolAfter && t.Kind == event.Shell {
		if code := jsontext.Get(t.Output, "metadata", "exit"); len(code) > 0 && string(code) != "0" &&
			string(code) != "null" {
			t.Failed = true
		}
	}
	s := got.Subagent
	if s == nil || s.Parent == "" {
		return nil
	}
	s.ID = got.Session
	return s
}

func opencodeEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top, output object
	switch call.Shape {
	case ShapeTool:
		if d.Verdict == event.Deny {
			top.text("throw", event.OneLine(d.Reason))
		} else {
			output.raw("args", call.Input)
		}
	case ShapeResult:
		if d.Verdict == event.Deny {
			top.text("throw", event.OneLine(d.Reason))
			dropContext(&d, "a refusal")
			d.Output = nil
			break
		}
		output.text("output", opencodeResult(&call, &d))
	case ShapePrompt:
		if d.Verdict == event.Deny {
			top.text("throw", event.OneLine(d.Reason))
			dropContext(&d, "a refusal")
		}
		top.text("context", d.Context)
	case ShapePermission:
		switch d.Verdict {
		case event.Allow:
			// always lets through every pattern OpenCode offered with the
			// request, in all sessions of its process: only where the user
			// took that up.
			if d.Answer != nil && len(d.Answer.Suggestion) > 0 {
				top.text("reply", "always")
				break
			}
			top.text("reply", "once")
		case event.Deny:
			// Without a message the whole turn would end.
			top.text("reply", "reject")
			top.text("message", event.OneLine(d.Reason))
		}
	case ShapeQuestion:
		switch d.Verdict {
		case event.Deny:
			top.raw("reject", []byte("true"))
		case event.Allow:
			list := opencodeAnswers(call.Event, &d)
			if list == nil {
				d.NoteDegraded(event.Degradation{What: event.PartAllow, To: event.ToNone, Why: event.NeedsAnswers})
				d.Verdict, d.Answer = event.None, nil
			}
			top.raw("answers", list)
		}
	case ShapeBlock:
		top.text("prompt", refusal(&d))
	case ShapeContext:
		top.text("context", d.Context)
	}
	top.nest("output", output)
	return neutral.Answer{Stdout: string(top.bytes())}, d
}

// opencodeResult returns the result as text: changed, or the real one if context follows it.
func opencodeResult(call *Call, d *event.Decision) string {
	var text string
	switch {
	case d.Output != nil:
		text = outputText(d.Output)
	case d.Context == "":
		return ""
	case call.Event.Tool != nil:
		text, _ = jsontext.String(jsontext.Get(call.Event.Tool.Output, "output"))
	}
	if d.Context != "" {
		text += "\n\n" + d.Context
	}
	return text
}

// opencodeAnswers returns the answers as OpenCode takes them: for each question, in order, a
// list of labels or texts; empty if it was left out.
func opencodeAnswers(ev *event.Event, d *event.Decision) []byte {
	given := answers(ev, d)
	if given == nil {
		return nil
	}
	lists := make([][]string, len(given))
	for i, a := range given {
		lists[i] = []string{}
		if a == nil {
			continue
		}
		lists[i] = append(lists[i], a.Options...)
		if a.Text != "" {
			lists[i] = append(lists[i], a.Text)
		}
	}
	b, err := json.Marshal(lists)
	if err != nil {
		return nil
	}
	return b
}
