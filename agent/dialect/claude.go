package dialect

import (
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Claude Code reads one JSON object from stdout, tolerates members it does not
// know, and insists on hookEventName. Exit codes are not used: exit 2 says
// nothing at PermissionRequest, and the JSON says everything everywhere.
var claude = likeClaude{
	finish: claudeFinish,
	takes: map[string]Takes{
		ShapeTool:       TakesAnswers, // the plan a model is shown is the original one here
		ShapePermission: TakesAnswers | TakesSuggestion | TakesPlanMode | TakesFeedback,
		ShapeQuestion:   TakesAnswers,
	},
	contextBesideBlock: true, changeBesideAsk: true,
}.dialect(ShapeTool, ShapePermission, ShapeBlock, ShapeContext, ShapeQuestion)

// claudeFinish finds the subagent of an event. agent_type alone names the persona of
// the main agent; a subagent always has an id, and works for the session it reports.
func claudeFinish(got Decoded) *event.Subagent {
	if got.Subagent == nil || got.Subagent.ID == "" {
		return nil
	}
	got.Subagent.Parent = got.Session
	return got.Subagent
}

// claudePermissions returns the changes of Claude's own rules that an approval
// brings along: the suggestion the user took up, or the mode in which an
// accepted plan is carried out.
func claudePermissions(a *event.Answer) []byte {
	if a == nil {
		return nil
	}
	mode := ""
	switch a.Plan {
	case event.PlanAuto:
		mode = "acceptEdits"
	case event.PlanManual:
		mode = "default"
	}
	switch {
	case mode != "":
		return []byte(`[{"type":"setMode","mode":"` + mode + `","destination":"session"}]`)
	case len(a.Suggestion) == 0 || !jsontext.Valid(a.Suggestion):
		return nil
	case jsontext.IsArray(a.Suggestion):
		return a.Suggestion
	}
	return append(append([]byte{'['}, a.Suggestion...), ']')
}

// claudeApproved returns the input an approval must carry. A plan and a question
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
			return claudePlan(call, d)
		}
		return tool.Input
	case event.Question:
		if input := claudeAnswers(call, d); input != nil {
			return input
		}
		d.NoteDegraded(event.Degradation{What: event.PartAllow, To: event.ToNone, Why: event.NeedsAnswers})
		d.Verdict, d.Allowed, d.Answer = event.None, false, nil
	}
	return nil
}

// claudePlan approves a plan as it is, or with your text added to it: the model is then
// shown the plan as edited.
func claudePlan(call *Call, d *event.Decision) []byte {
	if d.Answer == nil || strings.TrimSpace(d.Answer.Feedback) == "" || call.Shape != ShapePermission {
		return []byte("{}")
	}
	var o object
	o.text("plan", strings.TrimRight(call.Event.Plan, "\n")+"\n\nThe user adds: "+
		strings.TrimSpace(d.Answer.Feedback)+"\n")
	return event.MergeObjects(call.Event.Tool.Input, o.bytes())
}

// claudeAnswers returns the input of the tool that asks with the answers added, each under
// the text of its question.
func claudeAnswers(call *Call, d *event.Decision) []byte {
	var given object
	for i, a := range answers(call.Event, d) {
		if a != nil {
			given.member(call.Event.Questions[i].Text, event.AppendString(nil, words(a)))
		}
	}
	if len(given.b) == 0 {
		return nil
	}
	var o object
	o.nest("answers", given)
	return event.MergeObjects(call.Event.Tool.CurrentInput(), o.bytes())
}

// refusal returns the reason of a refusal or of keeping an agent going; empty when
// the decision is neither.
func refusal(d *event.Decision) string {
	switch {
	case d.Verdict == event.Deny:
		return event.OneLine(d.Reason)
	case d.KeepGoing && strings.TrimSpace(d.Reason) == "":
		return keepDefault
	case d.KeepGoing:
		return d.Reason
	}
	return ""
}

// askReason returns what the user reads beside the question.
func askReason(reason string) string {
	if reason == "" {
		return "a hookmux hook wants you to look at this"
	}
	return reason
}
