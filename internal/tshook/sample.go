package tshook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tshook/pi"
	"github.com/hookmux/hookmux/internal/wire"
)

// Sample makes up an event for one of pi's, as the given agent would report it. Input is the
// tool's, in pi's format or the agent's: {"command":…} or {"path":…}; for other events
// {"prompt":…}, {"message":…}, {"reason":…}. It rejects an event that the agent doesn't
// report.
func (e *Engine) Sample(agentName, piEvent, cwd string, input json.RawMessage) (*event.Event, error) {
	a, ok := e.host.Catalogue.Agent(agentName)
	if !ok {
		return nil, fmt.Errorf("%s is not an agent hookmux knows", agentName)
	}
	in := pi.ParseObject(input)
	if in == nil {
		if len(strings.TrimSpace(string(input))) > 0 {
			return nil, errors.New("the input must be a JSON object like {\"command\":\"ls\"}")
		}
		in = pi.Object{}
	}
	one, err := pi.FindCurrentEvent(piEvent, asString(in["reason"]))
	if err != nil {
		return nil, err
	}
	ev := &event.Event{
		ID: "trial", Time: time.Now(), Agent: a.Name, Session: "trial", Cwd: cwd, Detail: one.Reason,
		Attended: event.AttendedYes,
		Prompt:   orElse(asString(in["prompt"]), asString(in["text"])), Message: asString(in["message"]),
	}
	if err := e.findNative(a, one.Name, ev); err != nil {
		return nil, err
	}
	if a.Dialect == piDialect && slices.Contains(a.Inner, ev.Native) ||
		ev.Kind != event.ToolBefore && ev.Kind != event.ToolAfter {
		if one.Reason != "" {
			in["reason"] = one.Reason
		} else if strings.HasPrefix(piEvent, "session") {
			delete(in, "reason") // of the older generation; the current event has none
		}
		return withPiFields(ev, a, in), nil
	}
	return e.sampleCall(a, ev, in)
}

// findNative finds the agent's own name and the kind of one of pi's events.
func (e *Engine) findNative(a *agent.Agent, name string, ev *event.Event) error {
	if a.Dialect == piDialect {
		spec, sent := a.Event(name)
		switch {
		case slices.Contains(a.Inner, name):
			ev.Native, ev.Kind = name, event.Other
		case sent:
			ev.Native, ev.Kind = name, spec.Kind
		default:
			return fmt.Errorf("%s is not an event of pi that hookmux passes on; it passes on %s", name,
				strings.Join(piEvents(a), ", "))
		}
		return nil
	}
	ev.Kind = kindFor(name)
	for _, spec := range a.Events {
		if spec.Kind == ev.Kind && ev.Kind != "" && ev.Native == "" {
			ev.Native = spec.Name
		}
	}
	if ev.Native != "" {
		return nil
	}
	for _, other := range e.host.Catalogue.Agents() {
		if other.Dialect == piDialect && slices.Contains(piEvents(other), name) {
			return fmt.Errorf("%s reports nothing like %s; pi does: --agent pi", a.Title, name)
		}
	}
	return fmt.Errorf("there is no event %s; %s reports what stands for %s", name, a.Title,
		strings.Join(eventsLike(a), ", "))
}

// piEvents returns the names that pi's extension passes on.
func piEvents(a *agent.Agent) []string {
	list := slices.Clone(a.Inner)
	for _, spec := range a.Events {
		list = append(list, spec.Name)
	}
	list = slices.DeleteFunc(list, wire.IsPluginEvent)
	slices.Sort(list)
	return slices.Compact(list)
}

// eventsLike are pi's names of what another agent reports.
func eventsLike(a *agent.Agent) []string {
	var list []string
	for _, spec := range a.Events {
		for _, name := range byKind[spec.Kind] {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// sampleCall completes an event about a tool.
func (e *Engine) sampleCall(a *agent.Agent, ev *event.Event, in pi.Object) (*event.Event, error) {
	output := orElse(asString(in["output"]), "(no output)")
	if ev.Kind == event.ToolAfter {
		delete(in, "output") // it belongs to the result, not to the input
	}
	tool, err := sampleTool(a.Tools, in)
	if err != nil {
		return nil, err
	}
	if ev.Kind == event.ToolAfter {
		tool.Output = pi.Encode(output)
	}
	ev.Tool = tool
	e.host.Catalogue.WithInput(ev, tool.Input)
	ev.Tool.Changed = nil
	return ev, nil
}

// withPiFields adds the payload that pi itself would send: a hook receives those
// fields unchanged.
func withPiFields(ev *event.Event, a *agent.Agent, in pi.Object) *event.Event {
	if a.Dialect != piDialect {
		return ev
	}
	own := pi.Object{"type": ev.Native}
	maps.Copy(own, pi.SampleFields[ev.Native])
	for key, value := range in {
		own[key] = value
	}
	if ev.Kind == event.TurnStart {
		own["text"], own["source"] = ev.Prompt, "interactive"
	}
	if ev.Kind == event.SessionStart && own["reason"] == nil {
		own["reason"] = "startup"
	}
	if ev.Kind == event.SessionEnd && own["reason"] == nil {
		own["reason"] = "quit"
	}
	ev.Raw = pi.Encode(pi.Object{"event": own, "ctx": pi.Object{"cwd": ev.Cwd, "sessionId": ev.Session}})
	return ev
}

// kindFor returns the kind of event that corresponds to one of pi's current events.
func kindFor(name string) event.Kind {
	for _, kind := range event.Kinds() {
		if slices.Contains(byKind[kind], name) {
			return kind
		}
	}
	return ""
}
