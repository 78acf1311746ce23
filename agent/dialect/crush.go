package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Crush reads one flat JSON object. An answer in Claude's form is taken too, but
// this one says that a change need not approve.
var crush = Dialect{
	Encode: crushEncode,
	Shapes: []string{ShapeTool},
}

func crushEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch {
	case d.Verdict == event.Deny:
		top.text("decision", "deny")
		top.text("reason", event.OneLine(d.Reason))
		dropContext(&d, "a deny")
	case d.Verdict == event.Allow, d.Verdict == event.Modify && d.Allowed:
		top.text("decision", "allow")
		fallthrough
	default:
		top.raw("updated_input", call.Input)
		top.text("context", d.Context)
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
