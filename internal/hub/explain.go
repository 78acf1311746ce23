package hub

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// rehearsal goes along with an arrival that is only looked at: in the corridor
// nothing is written down, used up or put to anybody for it. hookmux's own
// guards are pure and do run; what other hooks would say is not known before
// they do. Its methods may be called without one, which is what really happens.
type rehearsal struct {
	suppose *event.Decision // instead of asking hooks
	notes   []string
}

// supposes puts the decision in that is to be supposed, if one is.
func (r *rehearsal) supposes(p *passage) bool {
	if r == nil || r.suppose == nil {
		return false
	}
	p.outcome.Decision = *r.suppose
	return true
}

// says notes what a room would have done.
func (r *rehearsal) says(what string) {
	if r != nil {
		r.notes = append(r.notes, what)
	}
}

// doExplain walks the corridor without leaving a trace.
func (h *Hub) doExplain(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.ExplainParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if _, ok := h.deps.Catalogue.Agent(p.Agent); !ok {
		return nil, wire.Errorf(wire.CodeParams, "agent %q is unknown; `hookmux status` lists the agents", p.Agent)
	}
	dry := &rehearsal{}
	if p.Decision != nil {
		if err := json.Unmarshal(p.Decision, &dry.suppose); err != nil {
			return nil, wire.Errorf(wire.CodeParams, "decision: %v", err)
		}
	}
	in := arrival{
		id: frame.NewID(), agent: p.Agent, event: p.Event, cwd: p.Cwd, payload: p.Payload, at: time.Now(), dry: dry,
		env: []byte(strings.Join(p.Env, "\x00")),
	}
	way := h.decode(&in)
	h.remark(&way, p.Event, dry)
	h.weigh(h.ctx, &in, &way)
	if way.neutral == switchedOff {
		h.summon(&in, &way) // who would be meant, were it on
		dry.supposes(&way)
	}
	answer, decision := h.encode(&way)
	result := wire.Explained{
		Carries: carriesMap(way.carries), Notes: dry.notes, Matched: matched(&way), Degraded: decision.DegradedText(),
		Answer: wire.Answer{Stdout: answer.Stdout, Stderr: answer.Stderr, ExitCode: answer.Exit},
	}
	result.Event, _ = json.Marshal(way.ev)
	result.Decision, _ = json.Marshal(decision)
	return result, nil
}

// remark notes what is odd about an event before anybody hears of it.
func (h *Hub) remark(p *passage, said string, dry *rehearsal) {
	if p.ev.Malformed != "" {
		dry.says("the payload cannot be read: " + p.ev.Malformed)
	}
	if !h.knows(p.ev.Agent, p.ev.Native) {
		dry.says(p.ev.Agent + " has no event " + p.ev.Native + "; it passes through as \"other\"")
	}
	if p.ev.Native != said && p.ev.Malformed == "" {
		dry.says("the payload says that it is " + p.ev.Native + ", and that counts")
	}
	if h.selection.Off.IsOff() {
		dry.says("hookmux is off: a real call would be answered neutrally; `hookmux on` ends that")
	}
}

// matched is who is meant for the event, with what those said who were heard.
func matched(p *passage) []wire.Matched {
	said := map[string]hook.Step{}
	for _, s := range p.outcome.Steps {
		said[s.Hook] = s
	}
	list := []wire.Matched{}
	for _, e := range p.entries {
		m := wire.Matched{ID: e.ID, Scope: e.Scope, Mode: string(e.ModeFor(p.ev.Kind)), Handler: e.Handler, Target: e.Target, Matches: e.For(&p.ev)}
		if s, ok := said[e.ID]; ok {
			m.Ran, m.Verdict = true, s.Verdict.Word()
			if s.Err != nil {
				m.Error = firstLine(s.Err.Error())
			}
		}
		list = append(list, m)
	}
	return list
}

func carriesMap(c event.Carries) map[string]bool {
	return map[string]bool{
		"allow": c.Allow, "deny": c.Deny, "ask": c.Ask, "input": c.Input,
		"output": c.Output, "context": c.Context, "keep": c.Keep, "notice": c.Notice,
	}
}
