package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Qwen takes Claude's forms, with holes: a call is changed and approved at
// PermissionRequest only, a result is replaced by continue false with a
// stopReason and by nothing else.
var qwen = Dialect{
	Finish: claudeFinish,
	Encode: qwenEncode,
	Shapes: []string{ShapeTool, ShapePermission, ShapeResult, ShapeBlock, ShapeContext},
}

func qwenEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		top.nest("hookSpecificOutput", preToolUse(&call, &d))
	case ShapePermission:
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) {
			var decision object
			switch {
			case d.Verdict == event.Deny:
				decision.text("behavior", "deny")
				decision.text("message", event.OneLine(d.Reason))
			case d.Verdict == event.Allow, d.Verdict == event.Modify && d.Allowed:
				decision.text("behavior", "allow")
				decision.raw("updatedInput", call.Input)
			}
			o.nest("decision", decision)
		}))
	case ShapeResult:
		reason := refusal(&d)
		if reason == "" && d.Output != nil {
			reason = outputText(d.Output)
		}
		if reason != "" {
			top.raw("continue", []byte("false"))
			top.text("stopReason", reason)
			dropContext(&d, "a replaced result")
		}
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) { o.text("additionalContext", d.Context) }))
	case ShapeBlock:
		if reason := refusal(&d); reason != "" {
			top.text("decision", "block")
			top.text("reason", reason)
			dropContext(&d, "a block")
		}
		fallthrough
	case ShapeContext:
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) { o.text("additionalContext", d.Context) }))
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}

// preToolUse is the part of Claude's form that most agents which copied it
// honour: a word, a reason, and a changed input beside allow.
func preToolUse(call *Call, d *event.Decision) object {
	return specific(call.Native, func(o *object) {
		input := call.Input
		switch {
		case d.Verdict == event.Deny:
			o.text("permissionDecision", "deny")
			o.text("permissionDecisionReason", event.OneLine(d.Reason))
			input = nil
		case d.Verdict == event.Ask:
			o.text("permissionDecision", "ask")
			o.text("permissionDecisionReason", askReason(d.Reason))
		case d.Verdict == event.Allow, d.Verdict == event.Modify && d.Allowed:
			o.text("permissionDecision", "allow")
			o.text("permissionDecisionReason", d.Reason)
		}
		o.raw("updatedInput", input)
	})
}
