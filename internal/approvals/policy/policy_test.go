package policy

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// caseOf returns an event of a real agent's catalogue entry.
func caseOf(t *testing.T, name, native string, tool *event.Tool, level Level) Case {
	t.Helper()
	c := agent.Builtin()
	a, ok := c.Agent(name)
	if !ok {
		t.Fatalf("name = %q: got ok = false, want true", name)
	}
	spec, ok := a.Event(native)
	if !ok {
		t.Fatalf("name = %q, native = %q: got ok = false, want true", name, native)
	}
	ev := &event.Event{Agent: name, Session: "s", Native: native, Kind: spec.Kind, Tool: tool}
	return Case{Event: ev, Spec: spec, Inbox: a.Inbox, Carries: spec.CarriesAt(""), Level: level, Chosen: true}
}

var (
	bash  = &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"make"}}
	read  = &event.Tool{Name: "Read", Kind: event.FileRead, Reads: []string{"x"}}
	other = &event.Tool{Name: "Mystery", Kind: event.OtherTool}
	mcp   = &event.Tool{Name: "mcp__a__b", Kind: event.MCP, MCP: &event.MCPCall{Server: "a", Tool: "b"}}
	task  = &event.Tool{Name: "Agent", Kind: event.Task}
)

func TestLook(t *testing.T) {
	for _, c := range []struct {
		agent, native string
		tool          *event.Tool
		level         Level
		so            event.Verdict
		want          string // kind and choices; "" for nothing
	}{
		{"claude", "PermissionRequest", bash, Permissions, event.None, "permission once always all deny"},
		{"claude", "PermissionRequest", read, Permissions, event.None, "permission once always all deny"}, // it asks itself
		{"claude", "PermissionRequest", bash, Off, event.None, ""},
		{"claude", "PermissionRequest", bash, Permissions, event.Deny, ""},
		{"claude", "PermissionRequest", bash, Permissions, event.Allow, ""},
		{"claude", "PreToolUse", bash, Permissions, event.None, ""},
		{"claude", "PreToolUse", bash, SideEffects, event.None, "permission once always all deny"},
		{"claude", "PreToolUse", mcp, SideEffects, event.None, "permission once always all deny"},
		{"claude", "PreToolUse", other, SideEffects, event.None, "permission once always all deny"},
		{"claude", "PreToolUse", read, All, event.None, ""},
		{"claude", "PreToolUse", task, All, event.None, ""},
		{"claude", "PreToolUse", bash, Permissions, event.Ask, "permission once always deny"},
		{"claude", "PreToolUse", bash, Off, event.Ask, ""},
		{"claude", "PostToolUse", bash, All, event.None, ""},
		{"claude", "Stop", nil, All, event.Ask, ""},
		{"codex", "PreToolUse", bash, SideEffects, event.None, ""}, // an approval spares nothing there
		{"codex", "PreToolUse", bash, All, event.None, "permission deny"},
		{"codex", "PreToolUse", bash, Permissions, event.Ask, "permission once deny"},
		{"codex", "PermissionRequest", bash, Permissions, event.None, "permission once always all deny"},
		{"gemini", "BeforeTool", bash, SideEffects, event.None, ""},
		{"gemini", "BeforeTool", bash, All, event.None, "permission deny"},
		{"pi", "tool_call", bash, Permissions, event.None, ""},
		{"pi", "tool_call", bash, SideEffects, event.None, "permission once always all deny"},
		{"kimi", "PermissionRequest", bash, Permissions, event.None, ""}, // it only observes
	} {
		one := caseOf(t, c.agent, c.native, c.tool, c.level)
		one.Decision = event.Decision{Verdict: c.so, By: "hook"}
		need, ok := NeedFor(one)
		got := ""
		if ok {
			got = string(need.Kind)
			for _, choice := range need.Choices {
				got += " " + string(choice)
			}
		}
		if got != c.want {
			t.Errorf("%s %s %s, %s, so far %q: %q, want %q", c.agent, c.native, name(c.tool), c.level, c.so, got,
				c.want)
		}
		if ok && need.BlockOnly == need.Offers(event.ChooseOnce) {
			t.Errorf("%s %s: block only %v; want !ok or need.BlockOnly != need.Offers(event.ChooseOnce)",
				c.agent, c.native, need.BlockOnly)
		}
	}
}

func name(t *event.Tool) string {
	if t == nil {
		return "(no tool)"
	}
	return t.Name
}

func TestQuestionsAndPlans(t *testing.T) {
	question := &event.Tool{Name: "AskUserQuestion", Kind: event.Question}
	c := caseOf(t, "claude", "PermissionRequest", question, Permissions)
	if _, ok := NeedFor(c); ok {
		t.Error("nothing is asked")
	}
	c = caseOf(t, "claude", "Elicitation", nil, Permissions)
	if need, ok := NeedFor(c); !ok || fmt.Sprint(need.Choices) != "[deny]" {
		t.Errorf(`no question at all: need = %+v, ok = %v; want ok and only deny: there is nothing to answer`, need, ok)
	}
	c = caseOf(t, "claude", "PermissionRequest", question, Permissions)
	c.Event.Questions = []event.Inquiry{{Text: "which?", Free: true}}
	if need, ok := NeedFor(c); !ok || need.Kind != Question || !need.Offers(event.ChooseAnswer) {
		t.Errorf("need = %+v, ok = %v; want ok, need.Kind = Question and need.Offers(event.ChooseAnswer)", need, ok)
	}
	c = caseOf(t, "claude", "Elicitation", nil, Permissions)
	c.Event.Questions = []event.Inquiry{{Text: "https://x.invalid"}} // an address to be opened
	if need, ok := NeedFor(c); !ok || fmt.Sprint(need.Choices) != "[deny]" {
		t.Errorf(`need = %+v, ok = %v; want ok and fmt.Sprint(need.Choices) = "[deny]"`, need, ok)
	}
	for agent, ok := range map[string]bool{"codex": true, "claude": false} { // Claude Code asks at PermissionRequest
		c := caseOf(t, agent, "PreToolUse", question, Permissions)
		c.Event.Questions = []event.Inquiry{{Text: "which?", Free: true}}
		if need, got := NeedFor(c); got != ok || ok && !need.Offers(event.ChooseAnswer) {
			t.Errorf("agent = %q, need = %+v, got %v; want %v, and an answer on offer where it is true",
				agent, need, got, ok)
		}
	}
	c = caseOf(t, "claude", "PermissionRequest", &event.Tool{Name: "ExitPlanMode", Kind: event.Plan}, Permissions)
	for _, plan := range []string{"", " \n\t", "---\n#", "\u2800\u3164", "\u200b\u200b"} {
		c.Event.Plan = plan
		if need, ok := NeedFor(c); !ok || !need.Unseen || !reflect.DeepEqual(need.Plans, []event.PlanMode{event.PlanReject}) {
			t.Errorf("plan %q: need = %+v, ok = %v; want that it can only be denied", plan, need, ok)
		}
		hooked := c
		hooked.Decision = event.Decision{Verdict: event.Ask}
		if need, ok := NeedFor(hooked); !ok || fmt.Sprint(need.Choices) != "[deny]" {
			t.Errorf("plan %q, asked about by a hook: need = %+v, ok = %v; want that it can only be denied", plan, need, ok)
		}
	}
	c.Event.Plan = "1. test"
	if need, ok := NeedFor(c); !ok || need.Kind != Plan || len(need.Plans) != 4 {
		t.Errorf("need = %+v, ok = %v; want ok, need.Kind = Plan and len(need.Plans) = 4", need, ok)
	}
	c.Event.Truncated = true
	if need, ok := NeedFor(c); !ok || !reflect.DeepEqual(need.Plans, []event.PlanMode{event.PlanReject}) {
		t.Errorf("need = %+v, ok = %v; want ok and need.Plans = []event.PlanMode{event.PlanReject}", need, ok)
	}
}

func TestDoubtLeavesOnlyANo(t *testing.T) {
	c := caseOf(t, "claude", "PermissionRequest", bash, Permissions)
	c.Event.Truncated = true
	if need, ok := NeedFor(c); !ok || !need.Unseen || fmt.Sprint(need.Choices) != "[deny]" {
		t.Errorf(`need = %+v, ok = %v; want ok, need.Unseen and fmt.Sprint(need.Choices) = "[deny]"`, need, ok)
	}
	c.Decision = event.Decision{Verdict: event.Ask}
	if need, ok := NeedFor(c); !ok || fmt.Sprint(need.Choices) != "[deny]" {
		t.Errorf(`need = %+v, ok = %v; want ok and fmt.Sprint(need.Choices) = "[deny]"`, need, ok)
	}
	c = caseOf(t, "claude", "PermissionRequest", bash, Permissions)
	c.Event.Nested = true
	if _, ok := NeedFor(c); ok {
		t.Error("a hook's own child asks")
	}
	c = caseOf(t, "claude", "PermissionRequest", bash, Permissions)
	c.Event.Malformed = "broken"
	if _, ok := NeedFor(c); ok {
		t.Error("nothing can be shown")
	}
}

// By default only what was tried on the real agent is asked about.
func TestUnprovenPoints(t *testing.T) {
	c := caseOf(t, "claude", "PermissionRequest", bash, Permissions)
	spec := *c.Spec
	spec.Carries = agent.Capabilities{Allow: &agent.Capability{Proof: "documented: says so"},
		Deny: &agent.Capability{Proof: "documented: says so"}}
	c.Spec, c.Chosen = &spec, false
	if _, ok := NeedFor(c); ok {
		t.Error("asked by default")
	}
	c.Chosen = true
	if _, ok := NeedFor(c); !ok {
		t.Error("not asked although chosen")
	}
}

func TestKeysOfNoCall(t *testing.T) {
	if len(Keys(&event.Event{})) != 0 {
		t.Error("a call from nothing")
	}
	if !strings.HasPrefix(callText(&event.Tool{Name: "X", Input: []byte(`{"a":1}`)}), "X") {
		t.Error("the text of a call of X does not begin with X")
	}
}

// An agent that was told to ask nobody is not made to: unless a hook wants a
// person to look, or the user chose to be asked before calls.
func TestLookFree(t *testing.T) {
	c := caseOf(t, "copilot", "permissionRequest", bash, Permissions)
	if _, ok := NeedFor(c); !ok {
		t.Error("what it asks is no request")
	}
	c.Free = true
	if need, ok := NeedFor(c); ok {
		t.Errorf("it would not have asked: %+v", need)
	}
	c.Decision = event.Decision{Verdict: event.Ask, By: "hook"}
	if _, ok := NeedFor(c); !ok {
		t.Error("a hook's question is lost")
	}
	c = caseOf(t, "copilot", "preToolUse", bash, SideEffects)
	c.Free = true
	if _, ok := NeedFor(c); !ok {
		t.Error("the user chose to be asked before calls")
	}
}

// A question is the same call before and after it was answered.
func TestKeysOfAQuestion(t *testing.T) {
	ask := func(input string) []Key {
		return Keys(&event.Event{Agent: "claude", Session: "s",
			Tool: &event.Tool{Name: "AskUserQuestion", Kind: event.Question, Input: []byte(input)}})
	}
	one, after := ask(`{"questions":[{"question":"a?"}]}`),
		ask(`{"questions":[{"question":"a?"}],"answers":{"a?":"b"}}`)
	if one[0] != after[0] || one[0] == ask(`{"questions":[{"question":"c?"}]}`)[0] {
		t.Errorf("one = %q, after = %q; want one[0] = after[0] and one[0] other than "+
			"ask(`{\"questions\":[{\"question\":\"c?\"}]}`)[0]", one, after)
	}
}

// Calls that do different things have different keys; a call's number is a key of its own.
func TestKeysTellCallsApart(t *testing.T) {
	keys := func(tool event.Tool) []Key { return Keys(&event.Event{Agent: "claude", Session: "s", Tool: &tool}) }
	for name, two := range map[string][2]event.Tool{
		"inputs of a shell without a command": {
			{Name: "Bash", Kind: event.Shell, Input: []byte(`{"kill":1}`)},
			{Name: "Bash", Kind: event.Shell, Input: []byte(`{"kill":2}`)},
		},
		"inputs of a question without questions": {
			{Name: "Ask", Kind: event.Question, Input: []byte(`{"text":"a?"}`)},
			{Name: "Ask", Kind: event.Question, Input: []byte(`{"text":"b?"}`)},
		},
	} {
		if keys(two[0])[0] == keys(two[1])[0] {
			t.Errorf("different %s have the same key, want different ones", name)
		}
	}
	one := event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"ls"}}
	if got := keys(one); len(got) != 1 {
		t.Errorf("a call without a number has the keys %v, want one key", got)
	}
	numbered, other := one, one
	numbered.CallID, other.CallID, other.Commands = "7", "7", []string{"ls -l"}
	first, second := keys(numbered), keys(other)
	if len(first) != 2 || len(second) != 2 || first[0] == second[0] || first[1] != second[1] {
		t.Errorf("two calls with the number 7 have the keys %v and %v; want two each, of which the second is the same",
			first, second)
	}
}
