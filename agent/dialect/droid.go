package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Droid takes Claude's forms at PreToolUse, Stop and SessionStart. A refused
// prompt is told by exit code 2, words for the model beside a prompt stand on
// stdout as they are; both are what a real Droid was seen to take. Exit code 3
// and continue false would end the whole run and are never used.
var droid = Dialect{
	Encode: droidEncode,
	Shapes: []string{ShapeTool, ShapeResult, ShapeBlock, ShapeContext, ShapeExit},
}

func droidEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeExit:
		return exitAnswer(d)
	case ShapeTool:
		top.nest("hookSpecificOutput", preToolUse(&call, &d))
	case ShapeResult:
		// A block after the call is passed over, words are not: the result
		// stays either way, and the model reads why it should not be used.
		words := d.Context
		if d.Verdict == event.Deny {
			words = event.OneLine(d.Reason)
			if d.Context != "" {
				words += "\n" + d.Context
			}
		}
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) { o.text("additionalContext", words) }))
	case ShapeBlock:
		if reason := refusal(&d); reason != "" {
			top.text("decision", "block")
			top.text("reason", reason)
		}
	case ShapeContext:
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) { o.text("additionalContext", d.Context) }))
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
