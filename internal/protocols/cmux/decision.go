package cmux

import (
	"cmp"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
)

// decisionWords returns an answer in cmux's format; nil if there is none.
func decisionWords(kind policy.Kind, d *event.Decision) map[string]any {
	if d.Verdict != event.Allow && d.Verdict != event.Deny && !d.Allowed {
		return nil
	}
	out := map[string]any{}
	switch kind {
	case policy.Plan:
		out["kind"] = "exit_plan"
		mode := "manual"
		if d.Verdict == event.Deny {
			mode = "deny"
		} else if d.Answer != nil && d.Answer.Plan == event.PlanAuto {
			mode = "autoAccept"
		}
		out["mode"] = mode
		if d.Answer != nil && d.Answer.Feedback != "" {
			out["feedback"] = d.Answer.Feedback
		}
	case policy.Question:
		if d.Verdict == event.Deny || d.Answer == nil {
			return nil // the agent's own dialog takes over
		}
		out["kind"] = "question"
		selections, keyed := []string{}, map[string]string{}
		for _, a := range d.Answer.Answers {
			selections = append(selections, a.Words())
			keyed[cmp.Or(a.ID, a.Question)] = a.Words()
		}
		out["selections"], out["answers"] = selections, keyed
	default:
		out["kind"] = "permission"
		mode := permissionMode(d.Answer)
		if d.Verdict == event.Deny {
			mode = event.ChooseDeny
			out["reason"] = d.Reason
		}
		out["mode"] = mode
	}
	if d.By != "" {
		out["by"] = d.By
	}
	return out
}

// permissionMode returns the yes for a program that pushed a request. It takes "always" and
// "all" as a yes to its own rules, which reach further than the rule of hookmux that the
// user saw. So they are only sent if the user took the agent's own suggestion; a permission
// of hookmux answers each later call by itself.
func permissionMode(a *event.Answer) event.Choice {
	switch {
	case a == nil:
		return event.ChooseOnce
	case a.Choice == event.ChooseBypass, a.Choice == event.ChooseAlways && len(a.Suggestion) > 0:
		return a.Choice
	}
	return event.ChooseOnce
}
