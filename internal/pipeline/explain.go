package pipeline

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// explain goes the way of an event without leaving a trace.
func (p *Pipeline) explain(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	return p.explainCall(params, &services.DryRun{})
}

// explainRunning is explain that runs command and script hooks as well: what
// those do is real.
func (p *Pipeline) explainRunning(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	return p.explainCall(params, &services.DryRun{RunHooks: true})
}

func (p *Pipeline) explainCall(params json.RawMessage, dry *services.DryRun) (any, *wire.Error) {
	var asked wire.ExplainParams
	if err := services.ReadParams(params, &asked); err != nil {
		return nil, err
	}
	if _, ok := p.Deps.Catalogue.Agent(asked.Agent); !ok {
		return nil, wire.Errorf(wire.CodeParams, "agent %q is unknown; `hookmux status` lists the agents",
			asked.Agent)
	}
	if asked.Decision != nil {
		if err := json.Unmarshal(asked.Decision, &dry.Suppose); err != nil {
			return nil, wire.Errorf(wire.CodeParams, "decision: %v", err)
		}
	}
	c := p.readCall(&services.Call{At: time.Now(), DryRun: dry, Frame: frame.Request{
		ID: frame.NewID(), Agent: asked.Agent, Event: asked.Event, Cwd: asked.Cwd, Payload: asked.Payload,
		Env: proc.JoinEnv(asked.Env),
	}})
	p.noteOddities(c, asked.Event, dry)
	p.decide(p.ctx, c)
	if c.Skipped == services.SwitchedOff {
		p.selectHooks(c) // who would be meant, were it on
		c.supposeDecision()
	}
	answer, decision := p.encode(c)
	result := wire.Explained{
		Carries: carriesMap(c.Carries), Notes: dry.Notes, Matched: matchedHooks(c), Degraded: decision.DegradedText(),
		Answer: wire.Answer{Stdout: answer.Stdout, Stderr: answer.Stderr, ExitCode: answer.Exit},
	}
	if dry.Suppose == nil && decision.Verdict != event.Deny {
		result.Unknown = hooksNotHeard(result.Matched)
	}
	if examination := p.Selection.Examine(&c.Event); len(examination.Findings) > 0 || c.Event.Tool != nil {
		result.Examination, _ = json.Marshal(examination)
	}
	result.Event, _ = json.Marshal(c.Event)
	result.Decision, _ = json.Marshal(decision)
	return result, nil
}

// noteOddities notes what is odd about an event before anything uses it.
func (p *Pipeline) noteOddities(c *call, said string, dry *services.DryRun) {
	if c.Event.Malformed != "" {
		dry.Note("the payload cannot be read: " + c.Event.Malformed)
	}
	if !p.knowsEvent(c.Event.Agent, c.Event.Native) {
		dry.Note(c.Event.Agent + " has no event " + c.Event.Native + "; it passes through as \"other\"")
	}
	if c.Event.Native != said && c.Event.Malformed == "" {
		dry.Note("the payload says that it's " + c.Event.Native + ", so that's what it is")
	}
	if p.Off.IsOff() {
		dry.Note("hookmux is off: a real call would be answered neutrally; `hookmux on` ends that")
	}
}

// matchedHooks returns who is meant for the event, with what those said who were heard.
func matchedHooks(c *call) []wire.Matched {
	said := map[string]hook.Step{}
	for _, s := range c.Outcome.Steps {
		said[s.Hook] = s
	}
	list := []wire.Matched{}
	for _, e := range c.entries {
		m := wire.Matched{ID: e.ID, Scope: e.Scope, Role: string(e.RoleFor(c.Event.Kind)), Handler: e.Handler,
			Target: e.Target, Matches: e.For(&c.Event), LogOnly: e.LogOnly}
		if s, ok := said[e.ID]; ok {
			m.Ran, m.Verdict, m.Would = true, s.Verdict.Word(), wire.WouldOf(s.Would)
			if s.Err != nil {
				m.Error = termsafe.FirstLine(s.Err.Error())
			}
		}
		list = append(list, m)
	}
	return list
}

// hooksNotHeard returns those that fit the call, may decide and were not run.
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
