package checks

import (
	"encoding/json"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Checks about one event as such: does it come, and is all of it understood?

// BringsAbout says in which run an event has to come. Empty: in none for sure.
func BringsAbout(s Subject) string {
	if !testbed.RegistersFor(s.Event) || s.Driver.Unseen[s.Event.Name] != "" {
		return ""
	}
	if run := s.Driver.Brings[s.Event.Name]; run != "" {
		return run
	}
	for _, a := range AllRuns() {
		if a.Brings != nil && a.Brings(s) && a.WhyNotRun(s.Agent, s.Driver) == "" {
			return a.Name
		}
	}
	return ""
}

func kindIs(kinds ...event.Kind) func(Subject) bool {
	return func(s Subject) bool { return slices.Contains(kinds, s.Event.Kind) }
}

// everyTurn picks the events of a plain turn.
func everyTurn(s Subject) bool {
	switch s.Event.Kind {
	case event.SessionStart, event.TurnStart, event.ToolBefore, event.ToolAfter, event.ModelAfter:
		return true
	case event.SessionEnd:
		return s.Driver.NoEnd == ""
	case event.TurnEnd:
		return s.Event.Detail == ""
	case event.SubagentStart, event.SubagentEnd:
		return s.Driver.Subagent != nil
	}
	return false
}

func failedTurn(s Subject) bool { return s.Event.Kind == event.TurnEnd && s.Event.Detail == "failed" }

func evaluateFires(p *Proof, s Subject) Result {
	for _, e := range p.All() {
		if n := len(e.Events(s.Event.Name)); n > 0 {
			return HoldsBecause("%d times in the act %s", n, e.Run)
		}
	}
	run := BringsAbout(s)
	switch {
	case !testbed.RegistersFor(s.Event):
		return NotInstalledBecause(s.Event.Why)
	case run == "" && s.Driver.Unseen[s.Event.Name] != "":
		return UnsureBecause("%s", s.Driver.Unseen[s.Event.Name])
	case run == "" && s.Event.Kind == event.SessionEnd && s.Driver.NoEnd != "":
		return UnsureBecause("%s", s.Driver.NoEnd)
	case run == "":
		return UnsureBecause("no scripted turn causes it reliably")
	}
	e := p.Of(run)
	if e.Missing != "" {
		return UnsureBecause("%s", e.Missing)
	}
	if e.Err != nil {
		return FailsBecause("", "%s: %v", run, e.Err)
	}
	if why := s.Driver.Racy[s.Event.Name]; why != "" {
		return UnsureBecause("did not come this time: %s", why)
	}
	return FailsBecause("", "did not come in the act %s, where %d other events did", run, len(e.Seen))
}

func evaluateDecodes(p *Proof, s Subject) Result {
	n := 0
	unwritten := "" // the run in which the agent ran the hook and wrote nothing
	unknown := map[string]bool{}
	for _, e := range p.All() {
		for _, x := range e.Events(s.Event.Name) {
			if len(x.Event.Raw) == 0 && !x.Event.Truncated {
				unwritten = e.Run
				continue
			}
			n++
			if x.Event.Malformed != "" && !cutByAgent(&x.Event) {
				return FailsBecause("`hookmux why` takes the payload apart",
					"a payload of the act %s could not be read: %s", e.Run, x.Event.Malformed)
			}
			if x.Event.Session == "" && !(x.Event.Kind == event.Other && isSessionless(s)) {
				return FailsBecause("", "a payload without a session id")
			}
			if !mayBe(s.Event, x.Event.Kind) {
				return FailsBecause("", "read as %s", x.Event.Kind)
			}
			for _, field := range unmentionedFields(s.Agent, s.Event, &x.Event) {
				unknown[field] = true
			}
		}
	}
	switch {
	case n == 0 && unwritten != "":
		return FailsBecause("", "the agent runs the hook and closes its stdin without a payload")
	case n == 0:
		return Result{Mark: Unsure, Why: "did not come", Cause: NeverCame}
	}
	if len(unknown) > 0 {
		var names []string
		for f := range unknown {
			names = append(names, f)
		}
		sort.Strings(names)
		return FailsBecause("the agent sends something new; tell the project, it does no harm",
			"fields that nobody accounts for: %s", strings.Join(names, ", "))
	}
	if unwritten != "" {
		// The client distinguishes an end from a break, so this is the agent's
		// doing: some exit while they are still starting their last hooks.
		return UnsureBecause("%d payloads, every field accounted for; in the act %s the agent closed the hook's "+
			"stdin before it had written one", n, unwritten)
	}
	return HoldsBecause("%d payloads, every field accounted for", n)
}

// cutByAgent reports whether the agent itself cut a call that was too long, and says so: Grok then
// sends the beginning of the input as one text. What such a call would run can't be known, and
// guards are told so; there is nothing to fix.
func cutByAgent(ev *event.Event) bool { return ev.Truncated && ev.Tool != nil && len(ev.Raw) > 0 }

// isSessionless reports whether the event is known to come without a session.
func isSessionless(s Subject) bool {
	return slices.ContainsFunc(s.Agent.Fields.Session,
		func(key string) bool { return s.Event.KindWithout[key] == event.Other })
}

// mayBe says that an event may mean this: some mean several things, and a
// dialect may know that it is something else.
func mayBe(spec *agent.EventSpec, kind event.Kind) bool {
	if kind == spec.Kind || kind == event.Other {
		return true
	}
	for _, more := range []map[string]event.Kind{spec.KindWith, spec.KindWithout} {
		for _, k := range more {
			if k == kind {
				return true
			}
		}
	}
	return false
}

// unmentionedFields lists the fields of a payload that the catalogue neither reads
// nor ignores with a reason.
func unmentionedFields(a *agent.Agent, spec *agent.EventSpec, ev *event.Event) []string {
	var payload map[string]json.RawMessage
	if json.Unmarshal(ev.Raw, &payload) != nil {
		return []string{"(payload)"}
	}
	known := fieldNames(a.Fields)
	for key := range spec.Fields {
		known[firstElement(key)] = true
	}
	var out []string
	for key := range payload {
		if !known[key] && a.Ignored[key] == "" {
			out = append(out, key)
		}
	}
	return append(out, unmentionedInput(a, ev)...)
}

func unmentionedInput(a *agent.Agent, ev *event.Event) []string {
	if ev.Tool == nil || ev.Tool.Kind == event.MCP {
		return nil
	}
	var input map[string]json.RawMessage
	if json.Unmarshal(ev.Tool.Input, &input) != nil {
		return nil
	}
	tool := a.Tool(ev.Tool.Name)
	known := map[string]bool{}
	for _, list := range [][]string{tool.Commands, tool.Reads, tool.Writes, tool.Patches, tool.URL, tool.Folder} {
		for _, path := range list {
			known[strings.TrimSuffix(firstElement(path), "[]")] = true
		}
	}
	var out []string
	for key := range input {
		if !known[key] && tool.Ignored[key] == "" {
			out = append(out, ev.Tool.Name+" "+key)
		}
	}
	return out
}

// fieldNames returns all payload keys a catalogue entry maps: every list of the
// struct is one of keys.
func fieldNames(f agent.FieldSpec) map[string]bool {
	known := map[string]bool{}
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if list, ok := v.Field(i).Interface().([]string); ok {
			for _, key := range list {
				known[firstElement(key)] = true
			}
		}
	}
	return known
}

func firstElement(path string) string {
	head, _, _ := strings.Cut(path, ".")
	return head
}
