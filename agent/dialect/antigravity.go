package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Antigravity reads one flat JSON object, in the names of its own protocol. An empty object
// at PreToolUse denies the call; ask leaves it to the user's own rules, and is what the
// catalogue has as the neutral answer. If a hook wants you to look, force_ask does it past
// an "always allow" of yours.
var antigravity = Dialect{
	Encode: antigravityEncode,
	Shapes: []string{ShapeTool, ShapeBlock, ShapeContext},
}

func antigravityEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		switch d.Verdict {
		case event.Deny:
			top.text("decision", "deny")
			top.text("reason", event.OneLine(d.Reason))
		case event.Ask:
			top.text("decision", "force_ask")
			top.text("reason", event.OneLine(askReason(d.Reason)))
		case event.Allow:
			top.text("decision", "allow")
			top.text("reason", event.OneLine(d.Reason))
		default:
			top.text("decision", "ask")
		}
	case ShapeBlock:
		if reason := refusal(&d); reason != "" {
			top.text("decision", "continue")
			top.text("reason", reason)
		}
	case ShapeContext:
		var step object
		step.text("ephemeralMessage", d.Context)
		if b := step.bytes(); len(b) > 0 {
			top.raw("injectSteps", append(append([]byte{'['}, b...), ']'))
		}
	}
	if out := top.bytes(); len(out) > 0 {
		return neutral.Answer{Stdout: string(out)}, d
	}
	return neutral.Answer{Stdout: "{}"}, d
}
