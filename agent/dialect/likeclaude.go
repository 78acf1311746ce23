package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// likeClaude writes the forms that Claude Code introduced, for it and for the
// agents that took them over. Which of them an agent honours at an event is in
// the catalogue, and what it cannot carry is gone from the decision by now; the
// fields say what more is known about those forms.
type likeClaude struct {
	finish func(Decoded) *event.Subagent
	// takes says which parts of your answer can be written, by shape.
	takes map[string]Takes
	// contextBesideBlock says that context for the model is used together with a block.
	contextBesideBlock bool
	// changeBesideAsk says that the user is asked about the call as it was changed.
	changeBesideAsk bool
	// losesOutput says that it stops reading a hook's output when the hook exits, and misses
	// it on a busy machine; so a denied call or prompt is reported by exit code 2 as well.
	losesOutput bool
}

// Qwen changes and approves a call at PermissionRequest only, and has a result
// replaced by continue false with a stopReason and by nothing else.
var qwen = likeClaude{finish: claudeFinish}.dialect(ShapeTool, ShapePermission, ShapeResult, ShapeBlock, ShapeContext)

// Droid learns of a denied prompt by exit code 2, and reads context for the model at a prompt
// as plain text; both are what a real one was seen to take. Exit code 3 and continue false
// would end the whole run.
var droid = likeClaude{}.dialect(ShapeTool, ShapeWords, ShapeBlock, ShapeContext, ShapeExit)

// CodeBuddy passes over the modifiedInput that its documents name, and takes
// updatedInput.
var codebuddy = likeClaude{finish: claudeFinish, contextBesideBlock: true, losesOutput: true}.dialect(ShapeTool,
	ShapePermission, ShapeWords, ShapeBlock)

func (l likeClaude) dialect(shapes ...string) Dialect {
	return Dialect{Finish: l.finish, Encode: l.encode, Shapes: shapes, Takes: l.takes}
}

func (l likeClaude) encode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var top object
	switch call.Shape {
	case ShapeExit:
		return exitAnswer(d)
	case ShapeTool:
		if d.Verdict == event.Ask && call.Input != nil && !l.changeBesideAsk {
			refuseChangedAsk(&d)
		}
		top.nest("hookSpecificOutput", preToolUse(&call, &d, l.takes[call.Shape]))
	case ShapePermission:
		top.nest("hookSpecificOutput", l.permission(&call, &d))
	case ShapeQuestion:
		top.nest("hookSpecificOutput", elicitation(&call, &d))
	case ShapeResult:
		if reason := replacedBy(&d); reason != "" {
			top.raw("continue", []byte("false"))
			top.text("stopReason", reason)
			dropContext(&d, "a replaced result")
		}
		top.nest("hookSpecificOutput", addedContext(&call, d.Context))
	case ShapeWords:
		// A block after the call is ignored, context isn't: the result stays either way, and
		// the model reads why it should not be used.
		words := d.Context
		if d.Verdict == event.Deny {
			words = event.OneLine(d.Reason)
			if d.Context != "" {
				words += "\n" + d.Context
			}
		}
		top.nest("hookSpecificOutput", addedContext(&call, words))
	case ShapeBlock:
		if reason := refusal(&d); reason != "" {
			top.text("decision", "block")
			top.text("reason", reason)
			if !l.contextBesideBlock {
				dropContext(&d, "a block")
			}
		}
		fallthrough
	case ShapeContext:
		top.nest("hookSpecificOutput", specific(call.Native, func(o *object) {
			o.text("additionalContext", d.Context)
			o.raw("updatedToolOutput", d.Output)
		}))
	}
	top.text("systemMessage", d.Notice)
	answer := neutral.Answer{Stdout: string(top.bytes())}
	if l.losesOutput && d.Verdict == event.Deny && (call.Shape == ShapeTool || call.Shape == ShapeBlock) {
		answer.Stderr, answer.Exit = event.OneLine(d.Reason), 2
	}
	return answer, d
}

func addedContext(call *Call, words string) object {
	return specific(call.Native, func(o *object) { o.text("additionalContext", words) })
}

// refuseChangedAsk denies a call that is changed and asked about at once, if it isn't known
// whether the change is used together with an ask: you must not be shown one call and get
// another.
func refuseChangedAsk(d *event.Decision) {
	d.NoteDegraded(event.Degradation{What: event.PartAskedChange, To: event.ToDeny, Why: event.NotTakenTogether})
	d.Verdict, d.Input, d.Reason = event.Deny, nil, event.OneLine(askReason(d.Reason))
}

// preToolUse returns a verdict, a reason, a changed input and context for the model.
func preToolUse(call *Call, d *event.Decision, takes Takes) object {
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
			if takes&TakesAnswers != 0 {
				input = claudeApproved(call, d)
			}
			if d.Verdict == event.None {
				break
			}
			o.text("permissionDecision", "allow")
			o.text("permissionDecisionReason", d.Reason)
		}
		o.raw("updatedInput", input)
		o.text("additionalContext", d.Context)
	})
}

func (l likeClaude) permission(call *Call, d *event.Decision) object {
	takes := l.takes[call.Shape]
	return specific(call.Native, func(o *object) {
		var decision object
		switch {
		case d.Verdict == event.Deny:
			decision.text("behavior", "deny")
			decision.text("message", event.OneLine(d.Reason))
		case d.Verdict == event.Allow, d.Verdict == event.Modify && d.Allowed:
			input := call.Input
			if takes&TakesAnswers != 0 {
				input = claudeApproved(call, d)
			}
			if d.Verdict == event.None {
				break
			}
			decision.text("behavior", "allow")
			decision.raw("updatedInput", input)
			if takes&TakesSuggestion != 0 {
				decision.raw("updatedPermissions", claudePermissions(d.Answer))
			}
		}
		o.nest("decision", decision)
	})
}

// elicitation fills in the form of an MCP server, or declines it.
func elicitation(call *Call, d *event.Decision) object {
	return specific(call.Native, func(o *object) {
		switch d.Verdict {
		case event.Deny:
			o.text("action", "decline")
		case event.Allow:
			content := formContent(call.Event, d, jsontext.Get(call.Event.Raw, "requested_schema"))
			if content == nil {
				d.NoteDegraded(event.Degradation{What: event.PartAllow, To: event.ToNone, Why: event.FormNotFilled})
				d.Verdict, d.Answer = event.None, nil
				break
			}
			o.text("action", "accept")
			o.raw("content", content)
		}
	})
}
