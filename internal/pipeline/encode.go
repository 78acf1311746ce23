package pipeline

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// encode gives a decision in the agent's own words. A refusal says who refused
// and how it can be allowed; what is recorded is the reason alone.
func (p *Pipeline) encode(c *call) (neutral.Answer, event.Decision) {
	said := c.Outcome.Decision
	said.Reason = denialText(&c.Event, &c.Outcome.Decision, c.entries)
	answer, decision := p.Deps.Catalogue.Encode(&c.Event, said)
	if decision.Reason == said.Reason {
		decision.Reason = c.Outcome.Decision.Reason
	}
	return answer, decision
}

// denialText is the reason of a decision as the agent hears it.
func denialText(ev *event.Event, d *event.Decision, entries []*hook.Entry) string {
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
	case event.ByPerson:
		return event.Denial("the user", d.Reason, "")
	case event.ByHookmux:
		return event.FromHookmux(event.OneLine(d.Reason))
	}
	if d.Rule != "" {
		return d.Reason // a guard says it itself
	}
	for _, e := range entries {
		if e.ID == d.By && e.Handler == "module" {
			return event.Denial("module "+hook.ModuleFile(d.By), d.Reason,
				"A person can change it: `hookmux hooks list`")
		}
	}
	return event.Denial("hook "+d.By, d.Reason, "A person can change it: `hookmux hooks list`")
}
