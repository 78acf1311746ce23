package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Grok takes Claude's forms and its own shorter ones, shows the first line of
// a reason, and never lets a hook skip its own prompt.
var grok = Dialect{
	Finish: grokFinish,
	Encode: grokEncode,
	Shapes: []string{ShapeTool, ShapeBlock},
}

// grokFinish finds the subagent of an event. A child session reports under its own
// session id and names only its type; the parent's report about it carries the child's
// id.
func grokFinish(got Decoded) *event.Subagent {
	if s := got.Subagent; s != nil {
		switch {
		case s.ID == "":
			s.ID = got.Session
		case s.ID != got.Session:
			s.Parent = got.Session
		}
	}
	if t := got.Tool; t != nil && got.Kind == event.ToolAfter && t.Kind == event.Shell {
		if code := jsontext.Get(t.Output, "exit_code"); len(code) > 0 && string(code) != "0" && string(code) != "null" {
			t.Failed = true
		}
	}
	return got.Subagent
}

func grokEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	if d.Verdict == event.Ask && call.Input != nil {
		refuseChangedAsk(&d)
	}
	var top object
	input := call.Input
	switch {
	case d.Verdict == event.Deny && call.Shape == ShapeTool:
		top.text("decision", "deny")
		top.text("reason", event.OneLine(d.Reason))
		input = nil
		dropContext(&d, "a deny")
	case d.Verdict == event.Ask:
		top.text("decision", "ask")
		top.text("reason", event.OneLine(askReason(d.Reason)))
	default:
		if reason := refusal(&d); reason != "" {
			top.text("decision", "block")
			top.text("reason", reason)
		}
	}
	top.nest("hookSpecificOutput", specific(call.Native, func(o *object) {
		o.raw("updatedInput", input)
		o.text("additionalContext", d.Context)
	}))
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
