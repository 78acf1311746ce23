package hub

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/feed"
	"github.com/hookmux/hookmux/internal/gate"
	"github.com/hookmux/hookmux/internal/proc"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// doExplain walks the corridor without leaving a trace: nothing is written
// down, no hook with side effects runs. hookmux's own guards are pure and do
// run; what other hooks would say is not known before they do.
func (h *Hub) doExplain(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.ExplainParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if _, ok := h.catalogue.Agent(p.Agent); !ok {
		return nil, wire.Errorf(wire.CodeParams, "agent %q is unknown; `hookmux status` lists the agents", p.Agent)
	}
	in := arrival{id: frame.NewID(), agent: p.Agent, event: p.Event, cwd: p.Cwd, payload: p.Payload, at: time.Now()}
	way := h.decode(&in)
	var notes []string
	if way.ev.Malformed != "" {
		notes = append(notes, "the payload cannot be read: "+way.ev.Malformed)
	}
	if !h.knows(way.ev.Agent, way.ev.Native) {
		notes = append(notes, way.ev.Agent+" has no event "+way.ev.Native+"; it passes through as \"other\"")
	}
	if way.ev.Native != p.Event && way.ev.Malformed == "" {
		notes = append(notes, "the payload says that it is "+way.ev.Native+", and that counts")
	}
	if h.isOff() {
		notes = append(notes, "hookmux is off: a real call would be answered neutrally; `hookmux on` ends that")
	}
	way.entries, way.project, way.ev.Projects = h.rules.forEvent(&way.ev, nil)
	result := wire.Explained{Carries: carriesMap(way.carries), Notes: notes, Matched: []wire.Matched{}}
	if p.Decision != nil {
		var d event.Decision
		if err := json.Unmarshal(p.Decision, &d); err != nil {
			return nil, wire.Errorf(wire.CodeParams, "decision: %v", err)
		}
		way.outcome.Decision = d
	} else {
		var guards []*hook.Entry
		for _, e := range way.entries {
			if e.BuiltinGuard {
				guards = append(guards, e)
			}
		}
		way.outcome = h.dispatch.Decide(context.WithValue(h.ctx, dryRun{}, true), hook.Call{Event: &way.ev, Project: way.project, Carries: way.carries}, guards)
	}
	said := map[string]hook.Step{}
	for _, s := range way.outcome.Steps {
		said[s.Hook] = s
	}
	for _, e := range way.entries {
		m := wire.Matched{ID: e.ID, Scope: e.Scope, Mode: string(e.ModeFor(way.ev.Kind)), Handler: e.Handler, Target: e.Target, Matches: e.For(&way.ev)}
		if s, ok := said[e.ID]; ok {
			m.Ran, m.Verdict = true, s.Verdict.Word()
			if s.Err != nil {
				m.Error = firstLine(s.Err.Error())
			}
		}
		result.Matched = append(result.Matched, m)
	}
	h.gate(&way)
	if _, need, spec := h.need(&way); spec != nil && asks(way.ev.Kind) && way.neutral == "" {
		result.Notes = append(result.Notes, "a person would be asked in the feed, while one is there: "+wordsOf(need))
	}
	answer, decision := h.encode(&way)
	result.Event, _ = json.Marshal(way.ev)
	result.Decision, _ = json.Marshal(decision)
	result.Degraded = decision.Degraded
	result.Answer = wire.Answer{Stdout: answer.Stdout, Stderr: answer.Stderr, ExitCode: answer.Exit}
	return result, nil
}

// wordsOf is what a person could say.
func wordsOf(need gate.Need) string {
	r := feed.Request{Need: need}
	return strings.Join(append(r.Words(), "release"), ", ")
}

func carriesMap(c event.Carries) map[string]bool {
	return map[string]bool{
		"allow": c.Allow, "deny": c.Deny, "ask": c.Ask, "input": c.Input,
		"output": c.Output, "context": c.Context, "keep": c.Keep, "notice": c.Notice,
	}
}
