package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// OpenClaw is spoken to through our plugin, which gives its handlers what they
// may return:
//
//	before_tool_call       {"block":true,"blockReason":…}, {"params":{…}},
//	                       {"requireApproval":{…}}
//	before_prompt_build    {"prependContext":…}; a refusal is kept for the
//	                       before_agent_run that follows, the only one that can
//	before_agent_run       {"outcome":"block","reason":…,"message":…}
//
// reason is for OpenClaw's own log, message for the user. An answer that is
// empty, or cannot be read, is no opinion.
var openclaw = Dialect{
	Finish: openclawFinish,
	Encode: openclawEncode,
	Shapes: []string{ShapeTool, ShapePrompt},
}

// openclawFinish reads whether a call failed. A command that failed is reported as
// completed; what was refused or broke says so.
func openclawFinish(got Decoded) *event.Subagent {
	if t := got.Tool; t != nil && got.Kind == event.ToolAfter {
		code := string(jsontext.Get(t.Output, "details", "exitCode"))
		status, _ := jsontext.String(jsontext.Get(t.Output, "details", "status"))
		t.Failed = t.Failed || code != "" && code != "0" && code != "null" || status == "error" || status == "blocked"
	}
	return got.Subagent
}

func openclawEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		if d.Verdict == event.Deny {
			top.raw("block", []byte("true"))
			top.text("blockReason", event.OneLine(d.Reason))
			break
		}
		top.raw("params", call.Input)
		if d.Verdict == event.Ask {
			var question object
			question.text("title", "hookmux")
			question.text("description", askReason(d.Reason))
			question.text("severity", "warning")
			top.nest("requireApproval", question)
		}
	case ShapePrompt:
		if d.Verdict == event.Deny {
			top.text("outcome", "block")
			top.text("reason", event.OneLine(d.Reason))
			top.text("message", event.OneLine(d.Reason))
			dropContext(&d, "a refusal")
		}
		top.text("prependContext", d.Context)
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
