package pipeline

import (
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
)

// A caller in a container may only report. What it says about itself must not reach
// anything outside: not the sessions, files and terminals of this machine, and not the
// programs that hooks run here. The answer it gets can only block its agent or make it ask.

// confineEvent makes a container's event one about that container alone.
func (c *call) confineEvent() {
	if c.Container == "" {
		return
	}
	if c.Event.Session != "" {
		c.Event.Session += "@" + c.Container
	}
	c.Event.Transcript = "" // a path over there
}

// locateContained is locate for a container: its terminals and panes bear the names of
// others here. Its process is known here by another number than there.
func (p *Pipeline) locateContained(c *call) {
	if proc.InOtherNamespace(c.caller.PID) { // else it is who started the container
		c.Event.Where = event.Place{PID: max(c.caller.PID, 0), Start: c.caller.Start}
	} else {
		c.Event.Where = event.Place{}
	}
	c.Carries = p.Deps.Catalogue.CarriesFor(&c.Event)
	c.Deadline = c.At.Add(p.timeLimit(c.Frame.Deadline, &c.Event))
}

// confineDecision leaves of a decision what makes the agent stop or ask. A call that would
// be changed is asked about; a yes becomes silence, on which the agent's own rules follow.
func (c *call) confineDecision() {
	d := &c.Outcome.Decision
	kept := event.Decision{Verdict: d.Verdict, Reason: d.Reason, By: d.By, Rule: d.Rule, Rules: d.Rules, Degraded: d.Degraded}
	switch {
	case c.Event.Kind.TakesKeepGoing(): // a denial there would have the agent go on
		kept.Verdict = event.None
	case d.Verdict == event.Deny, d.Verdict == event.Ask:
	case d.Verdict == event.Modify, d.Input != nil:
		kept.Verdict = event.Ask
	default:
		kept.Verdict = event.None
	}
	if kept.Verdict == event.None {
		if d.Verdict != event.None {
			c.Skipped = services.InContainer
		}
		kept.Reason, kept.By, kept.Rule, kept.Rules = "", "", "", nil
	}
	c.Outcome.Decision = kept
}
