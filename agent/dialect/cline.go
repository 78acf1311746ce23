package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Cline reads one JSON object from stdout and no exit code. cancel ends the whole run; the
// other members change the call or add context for the model.
var cline = Dialect{
	Finish: clineFinish,
	Encode: clineEncode,
	Shapes: []string{ShapeTool, ShapeContext},
}

// clineFinish finds the subagent and a command's failure. Every event names its agent,
// and only a subagent's names the one it works for. A command that failed says so in
// the list of results.
func clineFinish(got Decoded) *event.Subagent {
	if t := got.Tool; t != nil && got.Kind == event.ToolAfter {
		_ = jsontext.Array(t.Output, func(one []byte) bool {
			t.Failed = t.Failed || string(jsontext.Get(one, "success")) == "false"
			return true
		})
	}
	if got.Subagent == nil || got.Subagent.Parent == "" {
		return nil
	}
	return got.Subagent
}

func clineEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	if call.Shape == ShapeTool && d.Verdict == event.Deny {
		top.raw("cancel", []byte("true"))
		top.text("errorMessage", event.OneLine(d.Reason))
		dropContext(&d, "a cancel")
		return neutral.Answer{Stdout: string(top.bytes())}, d
	}
	top.raw("overrideInput", call.Input)
	top.text("contextModification", d.Context)
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
