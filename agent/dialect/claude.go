package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Claude Code reads one JSON object from stdout, tolerates members it does not
// know, and insists on hookEventName. Exit codes are not used: exit 2 says
// nothing at PermissionRequest, and the JSON says everything everywhere.
var claude = Dialect{
	Finish: claudeFinish,
	Encode: claudeEncode,
	Shapes: []string{ShapeTool, ShapePermission, ShapeBlock, ShapeContext, ShapeQuestion},
}

// claudeFinish: agent_type alone names the persona of the main agent; a
// subagent always has an id, and works for the session it reports.
func claudeFinish(got Decoded) *event.Subagent {
	if got.Subagent == nil || got.Subagent.ID == "" {
		return nil
	}
	got.Subagent.Parent = got.Session
	return got.Subagent
}

func claudeEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeTool:
		top.nest("hookSpecificOutput", claudeTool(&call, &d))
	case ShapePermission:
		top.nest("hookSpecificOutput", claudePermission(&call, &d))
	case ShapeQuestion:
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) {
			if d.Verdict == event.Deny {
				o.text("action", "decline")
			}
		}))
	case ShapeBlock:
		if reason := refusal(&d); reason != "" {
			top.text("decision", "block")
			top.text("reason", reason)
		}
		fallthrough
	case ShapeContext:
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) {
			o.text("additionalContext", d.Context)
			o.raw("updatedToolOutput", d.Output)
		}))
	}
	top.text("systemMessage", d.Notice)
	return neutral.Answer{Stdout: string(top.bytes())}, d
}

func claudeTool(call *Call, d *event.Decision) object {
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
			if input = claudeApproved(call, d); d.Verdict == event.None {
				break
			}
			o.text("permissionDecision", "allow")
			o.text("permissionDecisionReason", d.Reason)
		}
		o.raw("updatedInput", input)
		o.text("additionalContext", d.Context)
	})
}

func claudePermission(call *Call, d *event.Decision) object {
	return specific(call.Native, func(o *object) {
		var decision object
		switch {
		case d.Verdict == event.Deny:
			decision.text("behavior", "deny")
			decision.text("message", event.OneLine(d.Reason))
		case d.Verdict == event.Allow, d.Verdict == event.Modify && d.Allowed:
			input := claudeApproved(call, d)
			if d.Verdict == event.None {
				break
			}
			decision.text("behavior", "allow")
			decision.raw("updatedInput", input)
		}
		o.nest("decision", decision)
	})
}

// claudeApproved is the input an approval must carry. A plan and a question
// are only settled when updatedInput is there: for a plan an empty object (at
// PermissionRequest) or its own input will do, a question needs its answers,
// so that a bare approval of one says nothing.
func claudeApproved(call *Call, d *event.Decision) []byte {
	tool := call.Event.Tool
	if call.Input != nil || tool == nil {
		return call.Input
	}
	switch tool.Kind {
	case event.Plan:
		if call.Shape == ShapePermission || len(tool.Input) == 0 {
			return []byte("{}")
		}
		return tool.Input
	case event.Question:
		note(d, "allow → none: an approval does not answer a question; answers must come as changed input")
		d.Verdict, d.Allowed = event.None, false
	}
	return nil
}

// refusal is the reason of a refusal or of keeping an agent going; empty when
// the decision is neither.
func refusal(d *event.Decision) string {
	switch {
	case d.Verdict == event.Deny:
		return event.OneLine(d.Reason)
	case d.KeepGoing && d.Reason == "":
		return keepDefault
	case d.KeepGoing:
		return d.Reason
	}
	return ""
}

// askReason is what the person reads beside the question.
func askReason(reason string) string {
	if reason == "" {
		return "a hookmux hook wants you to look at this"
	}
	return reason
}
