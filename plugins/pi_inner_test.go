package plugins_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
	"github.com/hookmux/hookmux/plugins"
)

var piStarts = piEmit("session_start", step{"reason": "startup"})

func piInner(as, name string, event step) []step {
	event["type"] = name
	return []step{{"do": "call", "as": as, "name": name, "event": event}, await(as)}
}

// What no hook listens to is neither subscribed to nor sent.
func TestPiInnerEventsUnheard(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, nil)
	steps := []step{piStarts}
	for _, name := range []string{"context", "message_update", "before_provider_request", "turn_start"} {
		steps = append(steps, piInner(name, name, step{"messages": []step{}, "payload": step{}})...)
	}
	p := play(t, "pi", h.dir, plugins.Options{}, nil,
		append(steps, step{"do": "subscribed"}, piEmit("session_shutdown", step{"reason": "quit"}))...)
	for _, name := range []string{"context", "message_update", "before_provider_request", "turn_start",
		"provider_stream_event"} {
		if slices.Contains(p.Subscribed, name) {
			t.Errorf("subscribed to %s; want no name in p.Subscribed", name)
		}
	}
	if h.heard() != "session_start session_shutdown" {
		t.Errorf(`heard %s, want "session_start session_shutdown"`, h.heard())
	}
}

// Each inner event goes to the daemon as such, whole, and its answer is what pi
// takes at that event.
func TestPiInnerEvents(t *testing.T) {
	t.Parallel()
	events := map[string]struct {
		event        step
		answer, want string
	}{
		"context":                 {step{"messages": []step{{"role": "user", "content": "x"}}}, `{"messages":[{"role":"user","content":"y"}],"other":1}`, `{"messages":[{"role":"user","content":"y"}]}`},
		"context_with_system":     {step{"messages": []step{}}, `{"messages":"nonsense"}`, ``},
		"before_provider_request": {step{"payload": step{"a": 1}}, `{"payload":{"a":2}}`, `{"a":2}`},
		"message_end":             {step{"message": step{"role": "assistant", "content": "x"}}, `{"message":{"role":"assistant","content":"y"}}`, `{"message":{"role":"assistant","content":"y"}}`},
		"turn_end":                {step{"turnIndex": 1, "entries": []step{}}, `{"continue":true,"entries":[{"type":"custom"}]}`, `{"continue":true,"entries":[{"type":"custom"}]}`},
		"user_bash":               {step{"command": "ls"}, `{"result":{"output":"x","exitCode":0}}`, `{"result":{"output":"x","exitCode":0}}`},
		"session_before_tree":     {step{"preparation": step{"targetId": "e1"}}, `{"cancel":true}`, `{"cancel":true}`},
		"resources_discover":      {step{"cwd": "/x"}, `{"skillPaths":["/s",3]}`, `{"skillPaths":["/s"],"promptPaths":[],"themePaths":[]}`},
		"project_trust":           {step{"cwd": "/x"}, `{"trusted":"no"}`, `{"trusted":"no"}`},
		"cache_warming_decision":  {step{"action": "skip"}, `{"action":"warm"}`, `{"action":"warm"}`},
		"before_agent_start":      {step{"prompt": "x", "systemPrompt": "be kind"}, `{"messages":[{"customType":"a","content":"one"}],"systemPrompt":"be kinder"}`, `{"message":{"customType":"a","content":"one"},"systemPrompt":"be kinder"}`},
		"turn_start":              {step{"turnIndex": 0}, `{"messages":[]}`, ``},
		"model_select":            {step{"model": step{"id": "m"}}, ``, ``},
	}
	h := newFakeDaemon(t, func(r *frame.Request) string { return events[r.Event].answer })
	steps := []step{piStarts}
	for name, e := range events {
		h.wanted = append(h.wanted, name)
		steps = append(steps, piInner("inner "+name, name, e.event)...)
	}
	slices.Sort(h.wanted)
	p := play(t, "pi", h.dir, plugins.Options{}, nil, steps...)
	for name, e := range events {
		if _, returned, _, _ := p.call(t, "inner "+name); returned != e.want {
			t.Errorf("%s gave pi %s, want %s", name, returned, e.want)
		}
		said, _ := h.payload(t, name, 0)["event"].(map[string]any)
		for key := range e.event {
			if said[key] == nil && e.event[key] != nil {
				t.Errorf("%s did not say %s: %v", name, key, said)
			}
		}
	}
	for _, r := range h.all() {
		if _, inner := events[r.Event]; inner != r.Inner {
			t.Errorf("%s: inner %v; want inner == r.Inner", r.Event, r.Inner)
		}
	}
}

// A hook that fails at a person's command stops it; headers that hold a key are
// not shown, and stay; several messages all reach pi.
func TestPiInnerEventsWithCare(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, answers(map[string]string{
		"user_bash": `{"threw":"gate.ts: no"}`, "before_provider_headers": `{"headers":{"x-new":"1"}}`,
		"before_agent_start": `{"messages":[{"content":"one"},{"content":"two"}]}`,
	}))
	h.wanted = []string{"before_agent_start", "before_provider_headers", "message_update", "user_bash"}
	steps := slices.Concat([]step{piStarts}, piInner("bash", "user_bash", step{"command": "ls"}),
		piInner("headers", "before_provider_headers",
			step{"headers": step{"authorization": "hidden-words", "x-old": "0"}}),
		piInner("start", "before_agent_start", step{"prompt": "x"}),
		piInner("update", "message_update", step{"message": step{"role": "assistant"}}),
		[]step{piEmit("session_shutdown", step{"reason": "quit"})})
	p := play(t, "pi", h.dir, plugins.Options{}, nil, steps...)
	if threw, _, _, _ := p.call(t, "bash"); threw != "gate.ts: no" {
		t.Errorf(`threw %q, want "gate.ts: no"`, threw)
	}
	if _, _, _, event := p.call(t, "headers"); !strings.Contains(event, `"authorization":"hidden-words"`) ||
		!strings.Contains(event, `"x-new":"1"`) || !strings.Contains(event, `"x-old":null`) {
		t.Errorf("headers: %s; want `\"authorization\":\"hidden-words\"` in event, `\"x-new\":\"1\"` in "+
			"event and `\"x-old\":null` in event", event)
	}
	for _, r := range h.all() {
		if strings.Contains(string(r.Payload), "hidden-words") {
			t.Errorf("a key left pi: %s", r.Payload)
		}
	}
	// The harness gives what the last handler returned.
	if _, returned, _, _ := p.call(t, "start"); returned != `{"message":{"content":"two"}}` {
		t.Errorf("messages: %s, want `{\"message\":{\"content\":\"two\"}}`", returned)
	}
	if !strings.HasSuffix(h.heard(), "message_update agent_end session_shutdown") {
		t.Errorf(`heard %s; want h.heard() to end with "message_update agent_end session_shutdown"`, h.heard())
	}
}

// What a hook has pi do is one of pi's own methods, and only some of them.
func TestPiActs(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, nil)
	h.texts = []wire.OutboxText{
		{ID: "t1", Session: "pi-1", Call: []byte(`{"what":"act","on":"ui","method":"notify","args":["hello","info"]}`)},
		{ID: "t2", Session: "pi-1", Call: []byte(`{"what":"act","on":"pi","method":"on","args":["tool_call",null]}`)},
	}
	p := play(t, "pi", h.dir, plugins.Options{}, nil, piStarts, step{"do": "until", "poll": 2})
	if strings.Join(p.Notices, "|") != "hello" {
		t.Errorf(`shown %q; want strings.Join(p.Notices, "|") == "hello"`, p.Notices)
	}
	if done := h.polls[len(h.polls)-1].Done; len(done) != 2 || done[0].Error != "" ||
		string(done[0].Result) != "true" || !strings.Contains(done[1].Error, "no pi.on for hooks") {
		t.Errorf(`done: %+v; want len(done) == 2, done[0].Error == "", string(done[0].Result) == "true" and `+
			`"no pi.on for hooks" in done[1].Error`, done)
	}
}
