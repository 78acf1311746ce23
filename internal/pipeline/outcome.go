package pipeline

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// recordOutcome records what came of an event when somebody had a say in it.
func (p *Pipeline) recordOutcome(call *HookCall, s *pipelineState, d event.Decision) {
	p.later.countSteps(&s.ev, s.outcome.Steps)
	if !s.isDuplicate() { // else it was counted when it was told first
		if d.KeepGoing || d.Verdict == event.Deny && s.ev.Kind.TakesKeepGoing() {
			p.keepGoing.countRound(&s.ev, d.Reason)
		}
		p.stats.countDecision(d.Verdict)
		if d.Empty() && len(d.Degraded) == 0 && s.skipped == services.NotSkipped && s.asked == nil &&
			s.nobodySpoke() {
			return
		}
	}
	o := outcomeOf(call, s, d)
	s.recorded = &o
	p.Recorder.RecordOutcome(&o)
}

// noteTelemetry tells of a call once it's answered, where there's a collector.
func (p *Pipeline) noteTelemetry(call *HookCall, s *pipelineState, d event.Decision) {
	if p.Telemetry == nil || !p.Telemetry.Wanted() || s.isDuplicate() || call.dryRun != nil {
		return
	}
	took := time.Since(call.At)
	call.addAfter(func() {
		p.Telemetry.NoteAnswer(&Answered{Event: &s.ev, Took: took, Decision: d, Steps: s.outcome.Steps, Asked: s.asked,
			Env: call.Env})
	})
}

// nobodySpoke reports whether nobody but built-ins was asked, and none had anything to
// say.
func (s *pipelineState) nobodySpoke() bool {
	for _, step := range s.outcome.Steps {
		if step.Err != nil || step.Verdict != event.None || step.Would != nil {
			return false
		}
	}
	for _, e := range s.entries {
		if e.Handler != "builtin" && e.RoleFor(s.ev.Kind) != hook.Observe {
			return false
		}
	}
	return true
}

// outcomeOf is an outcome as it is stored and streamed.
func outcomeOf(call *HookCall, s *pipelineState, d event.Decision) wire.Outcome {
	o := wire.Outcome{
		ID: call.ID, Agent: s.ev.Agent, Native: s.ev.Native, Time: call.At, TookUS: time.Since(call.At).Microseconds(),
		Neutral: s.skipped.Code(), Duplicate: s.duplicate,
	}
	if s.ev.Tool != nil {
		o.Tool = s.ev.Tool.Name
	}
	if s.asked != nil {
		o.Inbox = &wire.InboxOutcome{Request: s.asked.Request, End: s.asked.End.Code(),
			TookUS: s.asked.Took.Microseconds()}
	}
	o.Decision, _ = json.Marshal(d)
	o.Steps = wireSteps(s.outcome.Steps)
	return o
}
