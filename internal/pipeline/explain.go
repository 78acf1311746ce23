package pipeline

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/environ"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/textcut"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// explain goes the way of an event without leaving a trace.
func (p *Pipeline) explain(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	return p.explainCall(params, &dryRun{})
}

// explainRunning is explain that runs command and script hooks as well: what
// those do is real.
func (p *Pipeline) explainRunning(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	return p.explainCall(params, &dryRun{runHooks: true})
}

func (p *Pipeline) explainCall(params json.RawMessage, dry *dryRun) (any, *wire.Error) {
	var asked wire.ExplainParams
	if err := services.ReadParams(params, &asked); err != nil {
		return nil, err
	}
	if _, ok := p.Deps.Catalogue.Agent(asked.Agent); !ok {
		return nil, wire.Errorf(wire.CodeParams, "agent %q is unknown; `hookmux status` lists the agents",
			asked.Agent)
	}
	if asked.Decision != nil {
		if err := json.Unmarshal(asked.Decision, &dry.suppose); err != nil {
			return nil, wire.Errorf(wire.CodeParams, "decision: %v", err)
		}
	}
	call := HookCall{
		ID: frame.NewID(), Agent: asked.Agent, Event: asked.Event, Cwd: asked.Cwd, Payload: asked.Payload,
		At:  time.Now(),
		Env: environ.Join(asked.Env), dryRun: dry,
	}
	s := p.decode(&call)
	p.noteOddities(s, asked.Event, dry)
	p.decide(p.ctx, &call, s)
	if s.skipped == services.SwitchedOff {
		p.selectHooks(&call, s) // who would be meant, were it on
		dry.supposeDecision(s)
	}
	answer, decision := p.encode(s)
	result := wire.Explained{
		Carries: carriesMap(s.carries), Notes: dry.notes, Matched: matchedHooks(s), Degraded: decision.DegradedText(),
		Answer: wire.Answer{Stdout: answer.Stdout, Stderr: answer.Stderr, ExitCode: answer.Exit},
	}
	if dry.suppose == nil && decision.Verdict != event.Deny {
		result.Unknown = hooksNotHeard(result.Matched)
	}
	if examination := p.Selection.Examine(&s.ev); len(examination.Findings) > 0 || s.ev.Tool != nil {
		result.Examination, _ = json.Marshal(examination)
	}
	result.Event, _ = json.Marshal(s.ev)
	result.Decision, _ = json.Marshal(decision)
	return result, nil
}

// noteOddities notes what is odd about an event before anybody hears of it.
func (p *Pipeline) noteOddities(s *pipelineState, said string, dry *dryRun) {
	if s.ev.Malformed != "" {
		dry.addNote("the payload cannot be read: " + s.ev.Malformed)
	}
	if !p.knowsEvent(s.ev.Agent, s.ev.Native) {
		dry.addNote(s.ev.Agent + " has no event " + s.ev.Native + "; it passes through as \"other\"")
	}
	if s.ev.Native != said && s.ev.Malformed == "" {
		dry.addNote("the payload says that it is " + s.ev.Native + ", and that counts")
	}
	if p.Off.IsOff() {
		dry.addNote("hookmux is off: a real call would be answered neutrally; `hookmux on` ends that")
	}
}

// matchedHooks is who is meant for the event, with what those said who were heard.
func matchedHooks(p *pipelineState) []wire.Matched {
	said := map[string]hook.Step{}
	for _, s := range p.outcome.Steps {
		said[s.Hook] = s
	}
	list := []wire.Matched{}
	for _, e := range p.entries {
		m := wire.Matched{ID: e.ID, Scope: e.Scope, Role: string(e.RoleFor(p.ev.Kind)), Handler: e.Handler,
			Target: e.Target, Matches: e.For(&p.ev), LogOnly: e.LogOnly}
		if s, ok := said[e.ID]; ok {
			m.Ran, m.Verdict, m.Would = true, s.Verdict.Word(), wire.WouldOf(s.Would)
			if s.Err != nil {
				m.Error = textcut.FirstLine(s.Err.Error())
			}
		}
		list = append(list, m)
	}
	return list
}

// hooksNotHeard are those that fit the call, may have a say and were not run.
func hooksNotHeard(list []wire.Matched) (ids []string) {
	for _, m := range list {
		if m.Matches && !m.Ran && !m.LogOnly && m.Role != string(hook.Observe) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func carriesMap(c event.Carries) map[string]bool {
	return map[string]bool{
		"allow": c.Allow, "deny": c.Deny, "ask": c.Ask, "input": c.Input,
		"output": c.Output, "context": c.Context, "keep": c.Keep, "notice": c.Notice,
	}
}
