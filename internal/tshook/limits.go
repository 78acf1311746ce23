package tshook

import (
	"slices"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// wantedKinds returns the kinds of events a file is called for. A file that reads the
// session's entries needs prompts and answers too.
func (p *presenter) wantedKinds(entries bool) []event.Kind {
	var list []event.Kind
	for _, kind := range event.Kinds() {
		wanted := false
		for _, name := range byKind[kind] {
			wanted = wanted || p.listensTo(name)
		}
		switch kind {
		case event.ToolBefore, event.ToolAfter:
			wanted = wanted || p.listensTo("turn_start") || p.listensTo("turn_end")
		case event.TurnStart, event.TurnEnd:
			wanted = wanted || entries && len(p.listens) > 0
		case event.SessionEnd:
			wanted = wanted || len(p.listens) > 0 // so that the session is forgotten
		}
		if wanted {
			list = append(list, kind)
		}
	}
	return list
}

// Registrations returns the file's hooks, with ids made from id. A hook that may stop a
// tool call is a guard that fails closed; the failure of a guard for anything else
// stops nothing, as in pi.
func (m *Hook) Registrations(id string) []hook.Registration {
	m.mu.Lock()
	info := m.info
	m.mu.Unlock()
	p := presenter{generation: info.Generation, listens: map[string]bool{}}
	for _, name := range info.Events {
		p.listens[name] = true
	}
	var list []hook.Registration
	add := func(agentName, hookType string, guard, closed bool) {
		r := hook.Registration{ID: id + "/" + hookType, Agent: agentName, HookType: hookType, Handler: hook.HandlerTypeScript,
			Target: m.path, Timeout: hook.Duration(hook.MaxTimeout), Role: hook.Advise}
		if guard {
			r.Role, r.OnFailure = hook.Guard, hook.FailIgnore
		}
		if closed {
			r.OnFailure = hook.FailDeny
		}
		if !guard {
			r.Timeout = hook.Duration(10 * time.Minute)
		}
		list = append(list, r)
	}
	for _, kind := range info.Kinds {
		guard, closed := false, false
		for _, name := range byKind[kind] {
			if !p.listensTo(name) {
				continue
			}
			guard = guard || decidingEvents[name]
			closed = closed || name == "tool_call"
		}
		add(hook.Any, string(kind), guard, closed)
	}
	// pi has events of its own that correspond to none of hookmux's.
	for _, a := range m.engine.host.Catalogue.Agents() {
		if a.Dialect != piDialect {
			continue
		}
		for _, spec := range a.Events {
			if spec.Kind == event.Other && p.listensTo(spec.Name) && !slices.Contains(a.Inner, spec.Name) {
				add(a.Name, spec.Name, spec.Answer != "", false)
			}
		}
		for _, name := range a.Inner {
			if p.listens[name] {
				add(a.Name, name, false, false)
			}
		}
	}
	return list
}

// carry is something handlers can do at one of pi's events.
type carry struct {
	event string
	kinds []event.Kind
	text  string
	has   func(agent.Capabilities) bool
}

var eventLimits = []carry{
	{
		"tool_call",
		[]event.Kind{event.ToolBefore},
		"tool_call: a call cannot be blocked",
		func(c agent.Capabilities) bool { return c.Deny != nil },
	},
	{
		"tool_call",
		[]event.Kind{event.ToolBefore},
		"tool_call: can't change the input; the call is blocked instead",
		func(c agent.Capabilities) bool { return c.Input != nil },
	},
	{
		"tool_result",
		[]event.Kind{event.ToolAfter},
		"tool_result: a changed result does not reach the model",
		func(c agent.Capabilities) bool { return c.Output != nil },
	},
	{
		"input",
		[]event.Kind{event.TurnStart},
		"input: a prompt cannot be stopped",
		func(c agent.Capabilities) bool { return c.Deny != nil },
	},
	{
		"before_agent_start",
		[]event.Kind{event.TurnStart},
		"before_agent_start: words for the model cannot be added",
		func(c agent.Capabilities) bool { return c.Context != nil },
	},
	{
		"session_before_compact",
		[]event.Kind{event.CompactBefore},
		"compaction cannot be cancelled",
		func(c agent.Capabilities) bool { return c.Deny != nil },
	},
	{
		"turn_end",
		[]event.Kind{event.TurnEnd},
		"turn_end: toolResults is empty; tool_result tells each result",
		func(agent.Capabilities) bool { return false },
	},
	{
		"agent_before_settle",
		[]event.Kind{event.TurnEnd},
		"agent_before_settle: it cannot be kept going",
		func(c agent.Capabilities) bool { return c.Keep != nil },
	},
}

// onlyInPi are pi's current events that no other agent has.
var onlyInPi = map[string]string{
	"session_before_switch": "switching sessions can be seen and cancelled in pi only",
	"session_before_fork":   "forking can be seen and cancelled in pi only",
	"session_before_tree":   "", "session_tree": "", "context": "", "context_with_system": "", "user_bash": "",
	"project_trust": "", "message_start": "", "message_update": "", "message_end": "",
	"before_provider_request": "", "before_provider_headers": "", "after_provider_response": "",
	"provider_stream_event": "", "model_select": "", "thinking_level_select": "", "tool_execution_update": "",
	"resources_discover": "", "session_compact_failed": "", "ui_prompt_end": "", "cache_warming_decision": "",
	"mcp_servers_change": "", "input_end": "",
}

// describePiEvent says whether and how one of pi's own events reaches a hook.
func describePiEvent(catalogue *agent.Catalogue, name, why string) string {
	for _, a := range catalogue.Agents() {
		if a.Dialect != piDialect {
			continue
		}
		spec, sent := a.Event(name)
		switch {
		case slices.Contains(a.Inner, name):
			return orElse(why, name+": happens in pi only")
		case sent && spec.Install == agent.InstallDefault:
			return orElse(why, name+": happens in pi only")
		case sent && spec.Install == agent.InstallOptional:
			return name + ": happens in pi only, and is passed on when `hookmux install pi --events` names it"
		}
	}
	return name + ": stays inside pi; hookmux passes it on to no hook"
}

// limitsFor lists what the file listens to and an agent cannot do, in the newest
// known version of each agent.
func limitsFor(catalogue *agent.Catalogue, p *presenter) []Limit {
	var list []Limit
	for _, a := range catalogue.Agents() {
		if a.Dialect == piDialect {
			continue
		}
		for _, c := range eventLimits {
			if !p.listensTo(c.event) {
				continue
			}
			there, can := false, false
			for _, spec := range a.Events {
				if slices.Contains(c.kinds, spec.Kind) {
					there = true
					can = can || c.has(spec.Carries)
				}
			}
			switch {
			case !there:
				list = appendNewLimits(list, []Limit{{a.Name, c.event,
					c.event + ": the agent doesn't report this event"}})
			case !can:
				list = appendNewLimits(list, []Limit{{a.Name, c.event, c.text}})
			}
		}
	}
	names := make([]string, 0, len(p.listens))
	for name := range p.listens {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if why, only := onlyInPi[name]; only {
			list = append(list, Limit{hook.Any, name, describePiEvent(catalogue, name, why)})
		} else if !isKnownEvent(catalogue, p, name) {
			list = append(list, Limit{hook.Any, name,
				name + ": there is no such event, so its handler is never called; see docs/typescript.md for the names"})
		}
	}
	return list
}

// isKnownEvent reports whether files of this generation can receive an event of
// this name: the handler of a misspelt event would never be called.
func isKnownEvent(catalogue *agent.Catalogue, p *presenter, name string) bool {
	shows := func(today string) bool { return slices.Contains(p.namesFor(today), name) }
	for _, names := range byKind {
		if slices.ContainsFunc(names, shows) {
			return true
		}
	}
	for today := range onlyInPi {
		if shows(today) {
			return true
		}
	}
	for _, a := range catalogue.Agents() {
		if a.Dialect != piDialect {
			continue
		}
		if slices.Contains(a.Inner, name) || slices.ContainsFunc(a.Events,
			func(e *agent.EventSpec) bool { return shows(e.Name) }) {
			return true
		}
	}
	return false
}
