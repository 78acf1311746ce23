package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Amp is spoken to through our plugin, which gives its handlers what they may
// return:
//
//	tool.call    {"action":"reject-and-continue","message":…},
//	             {"action":"modify","input":{…}}
//	agent.start  {"message":{"content":…}}
//	agent.end    {"action":"continue","userMessage":…}
//
// An answer that is empty, or cannot be read, is no opinion; to Amp the plugin then
// says {"action":"allow"}, which leaves the call to Amp's own rules.
var amp = Dialect{
	Finish: ampFinish,
	Encode: ampEncode,
	Shapes: []string{ShapeTool, ShapePrompt, ShapeBlock},
}

// ampFinish reads a command's failure from its exit code: Amp reports such a call as
// done.
func ampFinish(got Decoded) *event.Subagent {
	if t := got.Tool; t != nil && got.Kind == event.ToolAfter {
		code := string(jsontext.Get(t.Output, "exitCode"))
		t.Failed = t.Failed || code != "" && code != "0" && code != "null"
	}
	return got.Subagent
}

func ampEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		switch {
		case d.Verdict == event.Deny:
			top.text("action", "reject-and-continue")
			top.text("message", event.OneLine(d.Reason))
		case call.Input != nil:
			top.text("action", "modify")
			top.raw("input", call.Input)
		}
	case ShapePrompt:
		var message object
		message.text("content", d.Context)
		top.nest("message", message)
	case ShapeBlock:
		if reason := refusal(&d); reason != "" {
			top.text("action", "continue")
			top.text("userMessage", reason)
		}
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
