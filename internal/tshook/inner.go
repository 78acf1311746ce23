package tshook

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tshook/engine"
	"github.com/hookmux/hookmux/internal/tshook/pi"
	"github.com/hookmux/hookmux/internal/wire"
)

// Inner is one of pi's events that only files see. It passes from file to file. Its
// fields stay encoded: some hold a whole conversation, and most files change
// nothing.
type Inner struct {
	name     string
	fields   map[string]json.RawMessage
	ctx      pi.Object
	result   map[string]json.RawMessage
	messages []json.RawMessage // of before_agent_start: all are used
}

// ReadInner parses what pi's extension sent.
func ReadInner(ev *event.Event) (*Inner, error) {
	var payload struct {
		Event map[string]json.RawMessage
		Ctx   json.RawMessage
	}
	if err := json.Unmarshal(ev.Raw, &payload); err != nil {
		return nil, err
	}
	if payload.Event == nil {
		return nil, errors.New("the payload has no event")
	}
	delete(payload.Event, "absent") // hookmux's own, see dressed in js/core
	delete(payload.Event, "wants")
	payload.Event["type"] = pi.Encode(ev.Native)
	return &Inner{name: ev.Native, fields: payload.Event, ctx: pi.ParseObject(payload.Ctx),
		result: map[string]json.RawMessage{}}, nil
}

// Answer returns the answer for pi: what a handler in pi may return, or what hookmux's
// extension turns into that. It is nil if no file answered.
func (i *Inner) Answer() json.RawMessage {
	if len(i.messages) > 0 {
		i.result["messages"] = pi.Encode(i.messages)
	}
	if len(i.result) == 0 {
		return nil
	}
	return pi.Encode(i.result)
}

// chains are the fields that each handler receives as the previous one left them.
var chains = map[string][]string{
	"context": {"messages"}, "context_with_system": {"messages"}, "message_end": {"message"},
	"before_provider_request": {"payload"},
	"before_provider_headers": {"headers"}, "before_agent_start": {"systemPrompt", "systemPromptOptions"},
	"turn_end": {"continue", "entries"},
}

// addResult adds one file's answer, by pi's rules for several extensions. over
// means that the remaining files are not asked.
func (i *Inner) addResult(said map[string]json.RawMessage) (over bool) {
	for _, field := range chains[i.name] {
		if value, ok := said[field]; ok {
			i.fields[field], i.result[field] = value, value
		}
	}
	switch i.name {
	case "before_agent_start":
		var list []json.RawMessage
		if json.Unmarshal(said["messages"], &list) == nil {
			i.messages = append(i.messages, list...)
		}
		if more, ok := stringOf(said["systemPromptAppend"]); ok && more != "" {
			now, _ := stringOf(i.fields["systemPrompt"])
			i.fields["systemPrompt"] = pi.Encode(now + "\n\n" + more)
			i.result["systemPrompt"] = i.fields["systemPrompt"]
		}
	case "resources_discover":
		for _, field := range []string{"skillPaths", "promptPaths", "themePaths"} {
			var before, more []json.RawMessage
			_ = json.Unmarshal(i.result[field], &before)
			if json.Unmarshal(said[field], &more) == nil && len(more) > 0 {
				i.result[field] = pi.Encode(append(before, more...))
			}
		}
	case "user_bash", "project_trust", wire.EventOfferedTool, wire.EventOfferedCommand:
		i.result = said
		return len(said) > 0
	case "session_before_tree":
		if len(said) > 0 {
			i.result = said
		}
		return string(said["cancel"]) == "true"
	case "cache_warming_decision":
		if action, ok := said["action"]; ok {
			i.result["action"] = action
		}
	}
	return false
}

func stringOf(raw json.RawMessage) (string, bool) {
	var s string
	return s, len(raw) > 0 && json.Unmarshal(raw, &s) == nil
}

// failClosed are the events at which, in pi, a handler that fails stops what
// was about to happen.
var failClosed = map[string]bool{"user_bash": true, wire.EventOfferedTool: true, wire.EventOfferedCommand: true}

// frequentEvents come by the hundred, so the session's entries are not collected
// for files in Node at these.
var frequentEvents = map[string]bool{"message_update": true, "tool_execution_update": true,
	"provider_stream_event": true}

// Pass passes an inner event to the file's handlers and adds their answer. Inner events have
// a queue of their own: pi also sends them while it waits for the answer to another event.
func (m *Hook) Pass(ctx context.Context, call *hook.Call, i *Inner) (over bool, err error) {
	began := time.Now()
	ev := *call.Event
	own := *call
	own.Event = &ev
	ev.Kind = event.Other
	leave, err := m.enterQueue(ctx, sessionKey(ev.Agent, ev.Session)+"\x00inner")
	if err != nil {
		return false, err
	}
	defer leave()
	s := &subject{ev: &ev, pi: true, ctx: i.ctx, memory: m.rememberEvent(&ev, true)}
	fields := pi.Object{}
	for key, value := range i.fields {
		fields[key] = value
	}
	if i.name == "session_before_tree" {
		fields["wants"] = []any{"signal"}
	}
	var outcomes []*outcome
	ran := false
	for range 3 {
		var g *loadedCode
		if g, err = m.acquireLoading(ctx); err != nil {
			break
		}
		if ran = g.presenter.listens[i.name]; ran {
			outcomes, err = m.askRunner(ctx, g, &own, s, []presentedEvent{{name: i.name, fields: fields}})
		}
		g.busy.Done()
		if !errors.Is(err, engine.ErrNotRun) {
			break
		}
	}
	m.countRun(time.Since(began), ran)
	if err != nil {
		if failClosed[i.name] {
			i.result = map[string]json.RawMessage{"threw": pi.Encode(err.Error())}
		}
		return failClosed[i.name], err
	}
	if len(outcomes) == 0 || outcomes[0] == nil {
		return false, nil
	}
	if threw := outcomes[0].Threw; threw != nil {
		err = m.nameFile(threw)
		i.result = map[string]json.RawMessage{"threw": pi.Encode(err.Error())}
		return true, err
	}
	var result map[string]json.RawMessage
	if json.Unmarshal(outcomes[0].Result, &result) != nil {
		return false, nil
	}
	return i.addResult(result), nil
}

// noteInnerEvents notes which inner events the sending plugin passes on; they are
// then not derived from other events.
func (s *subject) noteInnerEvents(raw pi.Object, inner []string) {
	plugin, _ := raw["plugin"].(pi.Object)
	if !isTrue(plugin["inner"]) {
		return
	}
	s.inner = inner
	for _, name := range inner {
		s.spoken[name] = true
	}
}

// namesBesideInner returns the names of an event for files that also receive the inner
// events.
func (s *subject) namesBesideInner(ofKind []string) []string {
	var list []string
	for _, name := range ofKind {
		if name == s.ev.Native || !s.spoken[name] {
			list = append(list, name)
		}
	}
	if !slices.Contains(list, s.ev.Native) {
		list = append(list, s.ev.Native)
	}
	return slices.DeleteFunc(list, func(name string) bool { return slices.Contains(s.inner, name) })
}

// applyEarlierResults changes pi's event as the files before this one did: as in
// pi, a later handler sees the prompt or result that an earlier one rewrote.
func (s *subject) applyEarlierResults(said json.RawMessage) {
	if said == nil || s.own == nil {
		return
	}
	earlier := pi.ParseObject(said)
	keys := map[string][]string{"input": {"text", "images"},
		"tool_result": {"details", "structuredContent", "isError", "usage"}}[s.ev.Native]
	for _, key := range keys {
		if value, ok := earlier[key]; ok && value != nil {
			s.own[key] = value
		}
	}
}
