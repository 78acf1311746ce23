package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Copilot speaks two dialects, chosen by how an event's name is spelt: under
// camelCase names only flat members count, under Claude's PascalCase names a
// call is answered below hookSpecificOutput. Everything but exit 0 refuses a
// call, so that no other code is ever used.
var copilot = Dialect{
	Finish: copilotFinish,
	Encode: copilotEncode,
	Shapes: []string{ShapeTool, ShapeNested, ShapePermission, ShapeResult, ShapeBlock, ShapeContext},
}

// copilotFinish reads from a tool's result whether it failed.
func copilotFinish(got Decoded) *event.Subagent {
	if t := got.Tool; t != nil && len(t.Output) > 0 {
		for _, key := range []string{"resultType", "result_type"} {
			if word, ok := jsontext.String(jsontext.Get(t.Output, key)); ok && word != "success" {
				t.Failed = true
			}
		}
	}
	return got.Subagent
}

func copilotEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		input := call.Input
		if d.Verdict == event.Ask && input != nil {
			refuseChangedAsk(&d)
		}
		switch {
		case d.Verdict == event.Deny:
			top.text("permissionDecision", "deny")
			top.text("permissionDecisionReason", event.OneLine(d.Reason))
			input = nil
			dropContext(&d, "a refusal")
		case d.Verdict == event.Ask:
			top.text("permissionDecision", "ask")
			top.text("permissionDecisionReason", askReason(d.Reason))
		case d.Verdict == event.Allow, d.Verdict == event.Modify && d.Allowed:
			top.text("permissionDecision", "allow")
			top.text("permissionDecisionReason", d.Reason)
		}
		top.raw("modifiedArgs", input)
		top.text("additionalContext", d.Context)
	case ShapeNested:
		top.nest("hookSpecificOutput", preToolUse(&call, &d, 0))
	case ShapePermission:
		switch d.Verdict {
		case event.Allow:
			top.text("behavior", "allow")
		case event.Deny:
			top.text("behavior", "deny")
			top.text("message", event.OneLine(d.Reason))
		}
	case ShapeResult:
		reason := refusal(&d)
		switch {
		case reason != "":
			top.text("decision", "block")
			top.text("reason", reason)
			dropContext(&d, "a block")
			d.Output = nil
		case d.Output != nil:
			top.raw("modifiedResult", copilotResult(d.Output))
			dropContext(&d, "a changed result")
		}
		top.text("additionalContext", d.Context)
	case ShapeBlock:
		if reason := refusal(&d); reason != "" {
			top.text("decision", "block")
			top.text("reason", reason)
			dropContext(&d, "a block")
		}
		fallthrough
	case ShapeContext:
		top.text("additionalContext", d.Context)
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}

// copilotResult returns a changed result in Copilot's form; one that has it already
// is taken as it is.
func copilotResult(output []byte) []byte {
	if jsontext.IsObject(output) && jsontext.Get(output, "textResultForLlm") != nil {
		return output
	}
	var o object
	o.text("resultType", "success")
	o.text("textResultForLlm", outputText(output))
	return o.bytes()
}
