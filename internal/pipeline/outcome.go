package pipeline

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// recordOutcome records how an event was decided, if it was.
func (p *Pipeline) recordOutcome(c *call, d event.Decision) {
	p.later.countSteps(&c.Event, c.Outcome.Steps)
	if !c.isDuplicate() { // else it was counted when it was told first
		if d.KeepGoing || d.Verdict == event.Deny && c.Event.Kind.TakesKeepGoing() {
			p.keepGoing.countRound(&c.Event, d.Reason)
		}
		p.stats.countDecision(d.Verdict)
		if d.Empty() && len(d.Degraded) == 0 && c.Skipped == services.NotSkipped && c.asked == nil &&
			c.nobodySpoke() {
			return
		}
	}
	o := outcomeOf(c, d)
	c.recorded = &o
	p.Recorder.RecordOutcome(&o)
}

// measure keeps for a collector how long a call took and what came of it.
func (p *Pipeline) measure(c *call, d event.Decision) {
	if p.Telemetry == nil || !p.Telemetry.Wanted() || c.isDuplicate() || c.DryRun != nil {
		return
	}
	c.telemetry = &Answered{Event: &c.Event, Took: time.Since(c.At), Decision: d, Steps: c.Outcome.Steps, Asked: c.asked,
		Env: c.Frame.Env}
}

// noteTelemetry gives the collector a call that was answered.
func (p *Pipeline) noteTelemetry(c *call) {
	if c.telemetry != nil {
		p.Telemetry.NoteAnswer(c.telemetry)
	}
}

// nobodySpoke reports whether only built-ins were asked, and none of them had an opinion.
func (c *call) nobodySpoke() bool {
	for _, step := range c.Outcome.Steps {
		if step.Err != nil || step.Verdict != event.None || step.Would != nil {
			return false
		}
	}
	for _, e := range c.entries {
		if e.Handler != "builtin" && e.RoleFor(c.Event.Kind) != hook.Observe {
			return false
		}
	}
	return true
}

// outcomeOf returns an outcome as it is stored and streamed.
func outcomeOf(c *call, d event.Decision) wire.Outcome {
	o := wire.Outcome{
		ID: c.Frame.ID, Agent: c.Event.Agent, Native: c.Event.Native, Time: c.At, TookUS: time.Since(c.At).Microseconds(),
		Neutral: c.Skipped.Code(), Duplicate: c.duplicate,
	}
	if c.Event.Tool != nil {
		o.Tool = c.Event.Tool.Name
	}
	if c.asked != nil {
		o.Inbox = &wire.InboxOutcome{Request: c.asked.Request, End: c.asked.End.Code(),
			TookUS: c.asked.Took.Microseconds()}
	}
	o.Decision, _ = json.Marshal(d)
	o.Steps = wireSteps(c.Outcome.Steps)
	return o
}
