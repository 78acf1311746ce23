package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Cursor reads one flat JSON object with members of its own for each event: a permission
// before a tool, a followup_message at an end. Anything that isn't JSON denies a call, and so
// does a value that it doesn't know.
var cursor = Dialect{
	Finish: cursorFinish,
	Encode: cursorEncode,
	Shapes: []string{ShapeTool, ShapeBlock, ShapeContext},
}

// cursorFinish reads the result of a tool, which is a string that holds JSON.
func cursorFinish(got Decoded) *event.Subagent {
	if t := got.Tool; t != nil {
		if text, ok := jsontext.String(t.Output); ok && jsontext.Valid([]byte(text)) {
			t.Output = []byte(text)
		}
	}
	return got.Subagent
}

func cursorEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		if d.Verdict == event.Deny {
			// The SDK's model reads the first, the vendor says that the editor's reads the second.
			top.text("permission", "deny")
			top.text("user_message", event.OneLine(d.Reason))
			top.text("agent_message", event.OneLine(d.Reason))
		} else {
			top.raw("updated_input", call.Input)
		}
		top.text("additional_context", d.Context)
	case ShapeBlock:
		top.text("followup_message", refusal(&d))
	case ShapeContext:
		top.text("additional_context", d.Context)
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
