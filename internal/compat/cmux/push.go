package hub

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// The methods below take and give what cmux's do, so that programs written for
// it work here. Where cmux says less than is known, members are added.

// maxPushWait is how long a pushed request may wait, as with cmux.
const maxPushWait = 120 * time.Second

type cmuxPush struct {
	Event  json.RawMessage   `json:"event"`
	Events []json.RawMessage `json:"events"`
	Wait   *float64          `json:"wait_timeout_seconds"`
}

// cmuxEvent is what of a pushed event matters here; everything else stays in
// the payload.
type cmuxEvent struct {
	Session   string          `json:"session_id"`
	Name      string          `json:"hook_event_name"`
	Source    string          `json:"_source"`
	Cwd       string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	RequestID string          `json:"_opencode_request_id"`
	OtherID   string          `json:"request_id"`
	PID       int             `json:"_ppid"`
}

type cmuxPushResult struct {
	Status   string         `json:"status"` // acknowledged, resolved, timed_out
	ItemID   string         `json:"item_id,omitempty"`
	ItemIDs  []string       `json:"item_ids,omitempty"`
	Decision map[string]any `json:"decision,omitempty"`
	Why      string         `json:"why,omitempty"` // how a request ended that nobody answered
}

// doFeedPush takes an event from a program that speaks to cmux's feed.
func (h *Hub) doFeedPush(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p cmuxPush
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "the parameters cannot be read: %v", err)
	}
	wait := 0.0
	if p.Wait != nil {
		wait = *p.Wait
	}
	if wait < 0 || wait > maxPushWait.Seconds() {
		return nil, wire.Errorf(wire.CodeParams, "wait_timeout_seconds must lie between 0 and %.0f", maxPushWait.Seconds())
	}
	events := p.Events
	switch {
	case len(events) > 64:
		return nil, wire.Errorf(wire.CodeParams, "more than 64 events at once")
	case len(events) > 0 && wait > 0:
		return nil, wire.Errorf(wire.CodeParams, "several events cannot wait; push the one that waits alone")
	case len(events) > 0:
	case len(p.Event) > 0:
		events = []json.RawMessage{p.Event}
	default:
		events = []json.RawMessage{params} // flat
	}
	var ids []string
	for _, one := range events {
		result, err := h.pushOne(ctx, one, time.Duration(wait*float64(time.Second)), peer)
		if err != nil {
			return nil, err
		}
		if len(p.Events) == 0 {
			return result, nil
		}
		ids = append(ids, result.ItemID)
	}
	return cmuxPushResult{Status: "acknowledged", ItemIDs: ids}, nil
}

func (h *Hub) pushOne(ctx context.Context, raw json.RawMessage, wait time.Duration, peer proc.Cred) (*cmuxPushResult, *wire.Error) {
	var e cmuxEvent
	if err := json.Unmarshal(raw, &e); err != nil || e.Name == "" || e.Session == "" {
		return nil, wire.Errorf(wire.CodeParams, "an event needs session_id, hook_event_name and _source")
	}
	agent, session := h.splitWorkstream(e.Session, e.Source)
	in := arrival{id: frame.NewID(), agent: agent, event: e.Name, cwd: e.Cwd, payload: unwrapped(raw, session), at: time.Now(), peer: peer, limit: wait, pushed: true}
	in.gone = func(cancel func()) func() { return goneWith(ctx, cancel) }
	p := h.decode(&in)
	p.ev.Agent, p.ev.Session = agent, session // it says so itself, whoever pushes for it
	if p.ev.Cwd == "" {
		p.ev.Cwd = e.Cwd
	}
	h.pushedKind(&p.ev, &e)
	h.take(&in, &p)
	h.apply(&in, &p)
	defer h.finish(&in)
	need, asks := h.pushedNeed(&p.ev)
	if wait <= 0 || !asks {
		return &cmuxPushResult{Status: "acknowledged", ItemID: in.id}, nil
	}
	p.carries = event.Carries{Allow: true, Deny: true}
	h.ask(ctx, &in, &p) // guards first
	d := &p.outcome.Decision
	if d.Input != nil && d.Verdict != event.Deny {
		// cmux's answers hold no input: a yes would be one to the call as it came.
		*d = event.Decision{Verdict: event.Deny, By: d.By, Reason: "a hook wants this call changed, which cannot be said here; change it and try again"}
	}
	if d.Verdict == event.None || d.Verdict == event.Ask {
		h.consultPushed(ctx, &in, &p, need, wait, orElse(e.RequestID, e.OtherID))
	}
	if p.withdrawn(h.ctx) {
		return nil, wire.Errorf(wire.CodeWithdrawn, "the hub is stopping; push the event again")
	}
	h.conclude(&in, &p, *d)
	result := &cmuxPushResult{Status: "timed_out", ItemID: in.id, Why: orElse(p.neutral, "nobody is there to answer")}
	if p.asked != nil {
		result.ItemID, result.Why = p.asked.request, string(p.asked.end)
	}
	if decision := cmuxDecision(need.Kind, d); decision != nil {
		result.Status, result.Decision, result.Why = "resolved", decision, ""
	}
	return result, nil
}

// consultPushed lets a grant or a person decide about a pushed request, as
// consult does about one of a hook.
func (h *Hub) consultPushed(ctx context.Context, in *arrival, p *passage, need policy.Need, wait time.Duration, key string) {
	d := &p.outcome.Decision
	if d.Verdict == event.Ask {
		// A hook asks about this call; a blanket yes would answer what it did not ask.
		need.Asked, need.Why = d.By, d.Reason
		need.Choices = slices.DeleteFunc(need.Choices, func(c event.Choice) bool { return c == event.ChooseAll || c == event.ChooseBypass })
	}
	level, _ := h.rules.gateLevel(&p.ev)
	if p.neutral != "" || level == policy.Off {
		return
	}
	h.put(ctx, in, p, question{seen: &p.ev, need: need, hold: func() time.Duration { return wait }, key: key})
}

// splitWorkstream takes <agent>-<session> apart. Names of agents may hold
// dashes themselves, so the longest name of the catalogue that fits counts.
func (h *Hub) splitWorkstream(id, source string) (agent, session string) {
	agent = h.deps.AgentName(source)
	names := []string{}
	for _, a := range h.deps.Catalogue.Agents() {
		names = append(names, a.Name)
		names = append(names, a.Aliases...)
	}
	if source != "" {
		names = append(names, source)
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		if rest, ok := strings.CutPrefix(id, name+"-"); ok && rest != "" {
			if agent == "" {
				agent = h.deps.AgentName(name)
			}
			if h.deps.AgentName(name) == agent {
				return agent, rest
			}
		}
	}
	if agent == "" {
		agent = "unknown"
	}
	return agent, id
}

// unwrapped is a pushed event as the agent would have sent it.
func unwrapped(raw json.RawMessage, session string) []byte {
	id, _ := json.Marshal(session)
	return event.MergeObjects(raw, append(append([]byte(`{"session_id":`), id...), '}'))
}

// pushedKind: cmux names what is asked after the tool that asks.
func (h *Hub) pushedKind(ev *event.Event, e *cmuxEvent) {
	switch e.Name {
	case "PermissionRequest", "ExitPlanMode", "AskUserQuestion":
		ev.Kind, ev.Malformed = event.PermissionRequest, ""
		if ev.Tool == nil {
			ev.Tool = &event.Tool{Name: orElse(e.Tool, e.Name), Kind: event.OtherTool, Input: e.Input}
			h.deps.Catalogue.WithInput(ev, e.Input)
			ev.Tool.Changed = nil
		}
	}
	switch {
	case e.Name == "ExitPlanMode" || e.Tool == "ExitPlanMode":
		ev.Tool.Kind = event.Plan
		if ev.Plan == "" {
			ev.Plan = planIn(e.Input)
		}
	case e.Name == "AskUserQuestion" || e.Tool == "AskUserQuestion":
		if ev.Tool != nil {
			ev.Tool.Kind = event.Question
		}
		if ev.Questions == nil {
			ev.Questions = h.deps.Catalogue.QuestionsIn(e.Input)
		}
	}
}

func planIn(input json.RawMessage) string {
	var p struct {
		Plan string `json:"plan"`
	}
	if json.Unmarshal(input, &p) == nil && p.Plan != "" {
		return p.Plan
	}
	return string(input)
}

// pushedNeed is what a pushed request asks for: what the agent's own
// permission requests offer, else a plain yes and no.
func (h *Hub) pushedNeed(ev *event.Event) (policy.Need, bool) {
	if ev.Kind != event.PermissionRequest || ev.Tool == nil {
		return policy.Need{}, false
	}
	switch ev.Tool.Kind {
	case event.Question:
		return policy.Need{Kind: policy.Question, Choices: []event.Choice{event.ChooseAnswer, event.ChooseDeny}}, len(ev.Questions) > 0
	case event.Plan:
		return policy.Need{Kind: policy.Plan, Plans: event.PlanModes()}, true
	}
	need := policy.Need{Kind: policy.Permission, Choices: []event.Choice{event.ChooseOnce, event.ChooseDeny}}
	if a, ok := h.deps.Catalogue.Agent(ev.Agent); ok && a.Feed != nil {
		for name, point := range a.Feed.Points {
			if spec, ok := a.Event(name); ok && spec.Kind == event.PermissionRequest && slices.Contains(point.Permission, event.ChooseOnce) {
				need.Choices = slices.Clone(point.Permission)
			}
		}
	}
	return need, true
}

// cmuxDecision is an answer in cmux's words; nil when there is none.
func cmuxDecision(kind policy.Kind, d *event.Decision) map[string]any {
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
			keyed[orElse(a.ID, a.Question)] = a.Words()
		}
		out["selections"], out["answers"] = selections, keyed
	default:
		out["kind"] = "permission"
		mode := string(event.ChooseOnce)
		if d.Verdict == event.Deny {
			mode = string(event.ChooseDeny)
			out["reason"] = d.Reason
		} else if d.Answer != nil && d.Answer.Choice != "" {
			mode = string(d.Answer.Choice)
		}
		out["mode"] = mode
	}
	if d.By != "" {
		out["by"] = d.By
	}
	return out
}
