package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Gemini has one flat form for every event: decision and reason, and beside
// them hookSpecificOutput with the event's name. Exit codes are never used: 2
// with nothing on stderr runs the tool, any other than 0 and 1 blocks it, and
// stderr alone is read as the answer.
var gemini = Dialect{
	Encode: geminiEncode,
	Shapes: []string{ShapeTool, ShapeBlock, ShapeContext},
}

func geminiEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		input := call.Input
		if d.Verdict == event.Ask && input != nil {
			refuseChangedAsk(&d)
		}
		switch d.Verdict {
		case event.Deny:
			top.text("decision", "deny")
			top.text("reason", event.OneLine(d.Reason))
			if d.Notice == "" {
				// Its screen says nothing of the reason.
				d.Notice = "Blocked: " + event.OneLine(d.Reason)
			}
			input = nil
		case event.Ask:
			// The dialog shows systemMessage and not the reason.
			top.text("decision", "ask")
			top.text("reason", event.OneLine(askReason(d.Reason)))
			top.text("systemMessage", event.OneLine(askReason(d.Reason)))
			d.Notice = ""
		}
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) { o.raw("tool_input", input) }))
	case ShapeBlock:
		if reason := replacedBy(&d); reason != "" {
			top.text("decision", "deny")
			top.text("reason", reason)
			dropContext(&d, "a refusal")
		}
		fallthrough
	case ShapeContext:
		top.nest("hookSpecificOutput", specific(call.Native,
			func(o *object) { o.text("additionalContext", d.Context) }))
	}
	top.text("systemMessage", d.Notice)
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
