package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Hermes reads one flat JSON object: block with a reason, modify with arguments that
// override the call's, or context for the model. It ignores an approval.
var hermes = Dialect{
	Encode: hermesEncode,
	Shapes: []string{ShapeTool, ShapeContext},
}

func hermesEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch {
	case call.Shape == ShapeContext:
		top.text("context", d.Context)
	case d.Verdict == event.Deny:
		top.text("decision", "block")
		top.text("reason", event.OneLine(d.Reason))
	case call.Input != nil:
		top.text("action", "modify")
		top.raw("args", call.Input)
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
