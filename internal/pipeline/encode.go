package pipeline

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// encode returns a decision in the agent's format. A denial says who stopped the call and where to look; only the
// reason is recorded.
func (p *Pipeline) encode(c *call) (neutral.Answer, event.Decision) {
	said := c.Outcome.Decision
	said.Reason = denialText(&c.Event, &c.Outcome.Decision)
	answer, decision := p.Deps.Catalogue.Encode(&c.Event, said)
	if decision.Reason == said.Reason {
		decision.Reason = c.Outcome.Decision.Reason
	}
	return answer, decision
}

// denialText returns the reason of a decision as the agent gets it.
func denialText(ev *event.Event, d *event.Decision) string {
	stops := ev.Kind == event.ToolBefore || ev.Kind == event.PermissionRequest || ev.Kind == event.TurnStart
	if d.Verdict != event.Deny || !stops {
		return d.Reason
	}
	if answer := d.Answer; answer != nil && (answer.Choice != event.ChooseDeny || len(answer.Answers) > 0) {
		return d.Reason // an answer that is carried as a refusal
	}
	if ev.Tool != nil && ev.Tool.Kind == event.Question {
		return d.Reason
	}
	switch d.By {
	case "", event.BySupposed:
		return d.Reason
	case event.ByUser:
		return event.Denial("the user", d.Reason, "")
	case event.ByHookmux:
		return event.FromHookmux(event.OneLine(d.Reason))
	}
	if d.Rule != "" {
		return d.Reason // a guard says it itself
	}
	return event.Denial("hook "+hook.TSHookFile(d.By), d.Reason, "`hookmux hooks list` shows where it comes from")
}
