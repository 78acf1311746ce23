package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// OpenHands reads one flat JSON object: a decision, which overrides the exit code, its
// reason, and context for the model.
var openhands = Dialect{
	Encode: openhandsEncode,
	Shapes: []string{ShapeTool, ShapeBlock},
}

func openhandsEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	if reason := refusal(&d); reason != "" {
		top.text("decision", "deny")
		top.text("reason", reason)
		dropContext(&d, "a refusal")
	}
	top.text("additionalContext", d.Context)
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
