package dialect

import (
	"bytes"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// pi gets its answers through our extension, which gives pi's handler the answer
// as its return value, after removing the members that pi has no return
// value for:
//
//	allow   approved: an open dialog about it closes
//	input   overrides event.input key by key, in place
//	ask     shown to the user as a dialog; no user, or a no, means block
//	notice  shown to the user
//
// So every other form below is one that a handler of pi may return:
//
//	tool_call               {"block":true,"reason":…}
//	tool_result             {"content":[…],"isError":…}
//	input                   {"action":"handled"}; message is kept and returned
//	                        from the before_agent_start that follows
//	agent_before_settle     {"continue":true,"entries":[…]}
//	session_before_compact  {"cancel":true}, {"compaction":{…}}
//	session_before_switch   {"cancel":true}
//	session_before_fork     {"cancel":true}
//
// A hook written for pi may return more of pi's own members (withExtra): a prompt
// rewritten ({"action":"transform","text":…}), details of a result. An older
// extension also takes text for the system prompt here (systemPrompt, added
// after pi's own); a newer one asks hooks at before_agent_start itself.
//
// An answer that is empty, or can't be read, is no opinion.
var pi = Dialect{
	Encode: piEncode,
	Shapes: []string{ShapeTool, ShapeResult, ShapePrompt, ShapeBlock, ShapeHalt},
}

// piMark is the type under which pi keeps what hookmux says to the model.
const piMark = "hookmux"

func piEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		switch d.Verdict {
		case event.Deny:
			top.raw("block", []byte("true"))
			top.text("reason", event.OneLine(d.Reason))
		case event.Ask:
			top.text("ask", askReason(d.Reason))
			top.raw("input", call.Input)
		default:
			if d.Verdict == event.Allow || d.Allowed {
				top.raw("allow", []byte("true"))
			}
			top.raw("input", call.Input)
		}
	case ShapeResult:
		piResult(&call, &d, &top)
	case ShapePrompt:
		if d.Verdict == event.Deny {
			top.text("action", "handled")
			top.text("notice", event.OneLine(d.Reason))
			dropContext(&d, "a refusal")
		}
		top.nest("message", piMessage("", d.Context))
	case ShapeBlock:
		if reason := refusal(&d); reason != "" {
			top.raw("continue", []byte("true"))
			top.raw("entries", listOf(piMessage("custom_message", reason)))
		}
	case ShapeHalt:
		if d.Verdict == event.Deny {
			top.raw("cancel", []byte("true"))
		}
	}
	return neutral.Answer{Stdout: string(withExtra(top.bytes(), &d))}, d
}

// withExtra adds what a hook written for pi returns in pi's own form. A deny gets nothing
// added, and hookmux's own members aren't overwritten.
func withExtra(answer []byte, d *event.Decision) []byte {
	if d.Extra == nil || d.Verdict == event.Deny {
		return answer
	}
	if len(answer) == 0 {
		return d.Extra
	}
	return event.MergeObjects(d.Extra, answer)
}

// piResult writes a new result: the reason of a deny or the changed result, with context for
// the model after it.
func piResult(call *Call, d *event.Decision, top *object) {
	var parts [][]byte
	failed := false
	switch {
	case d.Verdict == event.Deny:
		parts, failed = [][]byte{textPart(event.OneLine(d.Reason))}, true
		d.Output = nil
	case d.Output != nil && jsontext.IsArray(d.Output):
		parts = elements(d.Output)
	case d.Output != nil:
		parts = [][]byte{textPart(outputText(d.Output))}
	case d.Context != "" && call.Event.Tool != nil:
		parts = elements(call.Event.Tool.Output)
	}
	if d.Context != "" {
		parts = append(parts, textPart(d.Context))
	}
	if len(parts) == 0 {
		return
	}
	top.raw("content", append(append([]byte{'['}, bytes.Join(parts, []byte{','})...), ']'))
	if failed {
		top.raw("isError", []byte("true"))
	}
}

func piMessage(kind, text string) object {
	var o object
	if text == "" {
		return o
	}
	o.text("type", kind)
	o.text("customType", piMark)
	o.text("content", text)
	o.raw("display", []byte("true"))
	return o
}

func textPart(text string) []byte {
	var o object
	o.text("type", "text")
	o.text("text", text)
	return o.bytes()
}

func listOf(o object) []byte { return append(append([]byte{'['}, o.bytes()...), ']') }

func elements(list []byte) [][]byte {
	var out [][]byte
	_ = jsontext.Array(list, func(element []byte) bool {
		out = append(out, element)
		return true
	})
	return out
}
