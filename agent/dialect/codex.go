package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Codex throws the whole answer away, and runs the tool, over one member it
// does not know, a refusal without a reason, or an approval that changes
// nothing. So each answer is one of a few forms that a real Codex took, and
// saying nothing is an empty stdout. A notice never travels beside anything
// else: that was not tried, and hookmux shows it itself.
var codex = Dialect{
	Finish: claudeFinish,
	Encode: codexEncode,
	Shapes: []string{ShapeTool, ShapePermission, ShapeBlock, ShapeContext, ShapeHalt},
}

func codexEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) {
			switch {
			case d.Verdict == event.Deny:
				o.text("permissionDecision", "deny")
				o.text("permissionDecisionReason", event.OneLine(d.Reason))
			case call.Input != nil:
				// "allow" makes Codex use updatedInput; it doesn't skip
				// Codex's own approval, so it may be sent for a change that
				// wasn't approved.
				o.text("permissionDecision", "allow")
				o.raw("updatedInput", call.Input)
			}
			o.text("additionalContext", d.Context)
		}))
	case ShapePermission:
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) {
			var decision object
			switch d.Verdict {
			case event.Allow:
				decision.text("behavior", "allow")
			case event.Deny:
				decision.text("behavior", "deny")
				decision.text("message", event.OneLine(d.Reason))
			}
			o.nest("decision", decision)
		}))
	case ShapeBlock:
		if reason := replacedBy(&d); reason != "" {
			top.text("decision", "block")
			top.text("reason", reason)
			dropContext(&d, "a block")
		}
		fallthrough
	case ShapeContext:
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) {
			o.text("additionalContext", d.Context)
		}))
	case ShapeHalt:
		if d.Verdict == event.Deny {
			top.raw("continue", []byte("false"))
			top.text("stopReason", event.OneLine(d.Reason))
		}
	}
	if len(top.b) == 0 {
		top.text("systemMessage", d.Notice)
	} else {
		d.Notice = ""
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}

// replacedBy returns what an agent takes in the place of a result: the reason of a
// refusal, or else the changed result, which is carried as one. It is empty when
// the result stays.
func replacedBy(d *event.Decision) string {
	if reason := refusal(d); reason != "" || d.Output == nil {
		return reason
	}
	return outputText(d.Output)
}

// outputText returns a changed result as the text Codex takes; never empty, because
// an empty reason would leave the real result in place.
func outputText(output []byte) string {
	text, ok := jsontext.String(output)
	if !ok {
		text = string(output)
	}
	if text == "" {
		return "(no output)"
	}
	return text
}
