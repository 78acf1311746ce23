package cmux

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// maxPushWait is how long a pushed request may wait, as with cmux.
const maxPushWait = 120 * time.Second

type pushParams struct {
	Event  json.RawMessage   `json:"event"`
	Events []json.RawMessage `json:"events"`
	Wait   *float64          `json:"wait_timeout_seconds"`
}

// pushedEvent is the part of a pushed event that matters here; everything else stays in
// the payload.
type pushedEvent struct {
	Session   string          `json:"session_id"`
	Name      string          `json:"hook_event_name"`
	Source    string          `json:"_source"`
	Cwd       string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	RequestID string          `json:"_opencode_request_id"`
	OtherID   string          `json:"request_id"`
	PID       int             `json:"_ppid"`
	Failed    bool            `json:"is_error"`
}

type pushResult struct {
	Status   string         `json:"status"` // acknowledged, resolved, timed_out
	ItemID   string         `json:"item_id,omitempty"`
	ItemIDs  []string       `json:"item_ids,omitempty"`
	Decision map[string]any `json:"decision,omitempty"`
	Why      string         `json:"why,omitempty"` // how a request ended that wasn't answered
}

// pushEvent takes an event from a program that speaks to cmux's inbox.
func (s *Server) pushEvent(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p pushParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "the parameters cannot be read: %v", err)
	}
	wait := 0.0
	if p.Wait != nil {
		wait = *p.Wait
	}
	if wait < 0 || wait > maxPushWait.Seconds() {
		return nil, wire.Errorf(wire.CodeParams, "wait_timeout_seconds must lie between 0 and %.0f",
			maxPushWait.Seconds())
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
		result, err := s.pushOne(ctx, one, time.Duration(wait*float64(time.Second)), peer)
		if err != nil {
			return nil, err
		}
		if len(p.Events) == 0 {
			return result, nil
		}
		ids = append(ids, result.ItemID)
	}
	return pushResult{Status: "acknowledged", ItemIDs: ids}, nil
}

func (s *Server) pushOne(ctx context.Context, raw json.RawMessage, wait time.Duration, peer proc.Cred) (*pushResult,
	*wire.Error) {
	var e pushedEvent
	if err := json.Unmarshal(raw, &e); err != nil || e.Name == "" || e.Session == "" {
		return nil, wire.Errorf(wire.CodeParams, "an event needs session_id, hook_event_name and _source")
	}
	agent, session := s.splitWorkstream(e.Session, e.Source)
	if wait > 0 {
		var stop func()
		ctx, stop = s.whileAsking(ctx, e.PID)
		defer stop()
	}
	var need policy.Need
	guarded := false // a tool call: guards decide, the user isn't asked to permit it
	done := s.Pipeline.Push(ctx, approvals.Pushed{
		Agent: agent, Session: session, Name: e.Name, Cwd: e.Cwd, Payload: unwrapEvent(raw, session), Peer: peer,
		Wait: wait, Key: cmp.Or(e.RequestID, e.OtherID),
		Prepare: func(ev *event.Event) (policy.Need, bool) {
			s.setKind(ev, &e)
			var asks bool
			need, asks = s.needOf(ev)
			guarded = ev.Kind == event.ToolBefore
			return need, asks
		},
		AfterHooks: func(d *event.Decision) bool { return afterHooks(d) && (!guarded || d.Verdict == event.Ask) },
	})
	switch {
	case done.Withdrawn:
		return nil, wire.Errorf(wire.CodeWithdrawn, "the daemon is stopping; push the event again")
	case !done.Decided, guarded && done.Decision.Verdict == event.None && done.Outcome.Asked == nil:
		return &pushResult{Status: "acknowledged", ItemID: done.ID}, nil
	}
	why := cmp.Or(done.Outcome.Skipped.Code(), "nobody is there to answer")
	result := &pushResult{Status: "timed_out", ItemID: done.ID, Why: why}
	if asked := done.Outcome.Asked; asked != nil {
		result.ItemID, result.Why = asked.Request, asked.End.Code()
	}
	if decision := decisionWords(need.Kind, &done.Decision); decision != nil {
		result.Status, result.Decision, result.Why = "resolved", decision, ""
	}
	return result, nil
}

// whileAsking returns a context that ends with the process for which a pushed event asks;
// the process that pushes it may live on. A process that doesn't exist is ignored: the one
// that asks may have another pid, as in a container.
func (s *Server) whileAsking(ctx context.Context, pid int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if pid <= 1 {
		return ctx, cancel
	}
	p, err := s.Processes.Lookup(pid)
	if err != nil {
		return ctx, cancel
	}
	if gone := s.WatchExit(ctx, pid, p.Start); gone != nil {
		s.Background.Go(func() {
			select {
			case <-gone:
				cancel()
			case <-ctx.Done():
			}
		})
	}
	return ctx, cancel
}

// afterHooks denies a call that a hook wants changed, which cmux's answers can't say, and
// reports whether the user must be asked.
func afterHooks(d *event.Decision) bool {
	if d.Input != nil && d.Verdict != event.Deny {
		// cmux's answers hold no input: a yes would be one to the call as it came.
		*d = event.Decision{
			Verdict: event.Deny, By: d.By,
			Reason: "a hook wants this call changed, which cannot be said here; change it and try again",
		}
	}
	return d.Verdict == event.None || d.Verdict == event.Ask
}

// unwrapEvent returns a pushed event as the agent would have sent it.
func unwrapEvent(raw json.RawMessage, session string) []byte {
	id, _ := json.Marshal(session)
	return event.MergeObjects(raw, append(append([]byte(`{"session_id":`), id...), '}'))
}

// setKind sets the kind of an event from the tool that asks, as cmux names it.
func (s *Server) setKind(ev *event.Event, e *pushedEvent) {
	switch e.Name {
	case "PreToolUse":
		if ev.Kind != event.ToolBefore {
			ev.Kind, ev.Malformed = event.ToolBefore, ""
		}
		s.setTool(ev, e)
	case "PermissionRequest", "ExitPlanMode", "AskUserQuestion":
		ev.Kind, ev.Malformed = event.PermissionRequest, ""
		s.setTool(ev, e)
	case "UserPromptSubmit": // cmux's plugin for OpenCode puts the prompt in place of a tool's input
		if words := pushedPrompt(ev.Raw); words != "" && ev.Prompt == "" {
			ev.Prompt, ev.Tool = words, nil
		}
	default:
		if ev.Tool != nil {
			s.setTool(ev, e)
			ev.Tool.Failed = ev.Tool.Failed || e.Failed
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
			ev.Questions = s.Catalogue.QuestionsIn(e.Input)
		}
	}
}

// setTool describes the call of an event that the agent's entry couldn't read: by the agent's
// own tools, else by Claude Code's, whose names cmux uses.
func (s *Server) setTool(ev *event.Event, e *pushedEvent) {
	if ev.Tool != nil && s.readsEvent(ev.Agent, e.Name) {
		return
	}
	call := event.Tool{}
	if ev.Tool != nil {
		call = event.Tool{CallID: ev.Tool.CallID, Output: ev.Tool.Output, Failed: ev.Tool.Failed,
			Duration: ev.Tool.Duration}
	}
	ev.Tool = nil
	input := e.Input
	if own := jsontext.Get(input, "metadata"); jsontext.IsObject(own) && jsontext.Get(input, "permission") != nil {
		// A permission of OpenCode: it contains the call's input, with the rules that
		// "always" would add.
		rules := jsontext.Get(input, "always")
		_ = jsontext.Array(rules, func([]byte) bool {
			ev.Suggestions = []json.RawMessage{rules} // all of them together, as OpenCode takes them
			return false
		})
		input = own
	}
	names := []string{ev.Agent}
	if a, ok := s.Catalogue.OfHookFormat(string(hook.Claude)); ok { // what cmux calls tools is mostly as there
		names = append(names, a.Name)
	}
	for _, name := range names {
		one := *ev
		tool := call
		one.Agent, one.Tool = name, &tool
		one.Tool.Name, one.Tool.Kind, one.Tool.Input = cmp.Or(e.Tool, e.Name), event.OtherTool, input
		if a, ok := s.Catalogue.Agent(name); ok {
			one.Tool.Kind = a.Tool(one.Tool.Name).Kind
		}
		s.Catalogue.WithInput(&one, input)
		one.Tool.Changed = nil
		if t := one.Tool; ev.Tool == nil || len(t.Commands)+len(t.Reads)+len(t.Writes)+len(t.URL) > 0 ||
			one.Malformed != "" {
			ev.Tool, ev.Malformed = t, one.Malformed
		}
		if t := ev.Tool; len(t.Commands)+len(t.Reads)+len(t.Writes)+len(t.URL) > 0 {
			return
		}
	}
}

// readsEvent reports whether an event of that name was read as the agent's own, or as one of
// an unknown agent: then its tools aren't known better here.
func (s *Server) readsEvent(agent, name string) bool {
	a, known := s.Catalogue.Agent(agent)
	if !known {
		return true
	}
	_, own := a.Event(name)
	return own
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

// needOf returns what a pushed request asks for: what the agent's own
// permission requests offer, else a plain yes and no.
func (s *Server) needOf(ev *event.Event) (policy.Need, bool) {
	if ev.Tool == nil || ev.Kind != event.PermissionRequest && ev.Kind != event.ToolBefore {
		return policy.Need{}, false
	}
	if ev.Kind == event.ToolBefore { // guards decide; the user only if one of them asks
		return policy.Need{Kind: policy.Permission, Choices: []event.Choice{event.ChooseOnce, event.ChooseDeny}}, true
	}
	switch ev.Tool.Kind {
	case event.Question:
		return policy.Need{Kind: policy.Question, Choices: []event.Choice{event.ChooseAnswer, event.ChooseDeny}},
			len(ev.Questions) > 0
	case event.Plan:
		need := policy.Need{Kind: policy.Plan, Plans: event.PlanModes()}
		need.KeepToShown(ev)
		return need, true
	}
	need := policy.Need{Kind: policy.Permission, Choices: []event.Choice{event.ChooseOnce, event.ChooseDeny}}
	if a, ok := s.Catalogue.Agent(ev.Agent); ok && a.Inbox != nil {
		for name, point := range a.Inbox.Points {
			if spec, ok := a.Event(name); ok && spec.Kind == event.PermissionRequest &&
				slices.Contains(point.Permission, event.ChooseOnce) {
				need.Choices = slices.Clone(point.Permission)
			}
		}
	}
	return need, true
}
