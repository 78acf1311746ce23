package tshook

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// byKind lists pi's events for each kind of hookmux's, in pi's order.
var byKind = map[event.Kind][]string{
	event.SessionStart:  {"session_start"},
	event.SessionEnd:    {"session_shutdown"},
	event.TurnStart:     {"input", "before_agent_start", "agent_start", "turn_start"},
	event.TurnEnd:       {"turn_end", "agent_end", "agent_before_settle", "agent_settled"},
	event.ToolBefore:    {"tool_execution_start", "tool_call"},
	event.UserQuestion:  {"tool_execution_start", "tool_call"},
	event.UserPlan:      {"tool_execution_start", "tool_call"},
	event.ToolAfter:     {"tool_result", "tool_execution_end"},
	event.CompactBefore: {"session_before_compact"},
	event.CompactAfter:  {"session_compact"},
	event.SessionTitle:  {"session_info_changed"},
	event.UserAttention: {"ui_prompt_start"},
}

// endsTurn are pi's names of the end of a turn.
var endsTurn = map[string]bool{"agent_end": true, "agent_before_settle": true, "agent_settled": true}

// decidingEvents are pi's events whose handlers may stop something.
var decidingEvents = map[string]bool{"tool_call": true, "input": true, "session_before_compact": true, "session": true}

// presentedEvent is one of pi's events, ready for the engine.
type presentedEvent struct {
	name   string // pi's name today, whatever the generation calls it
	fields pi.Object
	call   *pi.Call   // of a tool_call
	id     string     // of the same
	result *pi.Result // of a tool_result
}

// presenter translates events into the format one file was written for.
type presenter struct {
	generation Generation
	newReasons bool // of the first generation: new means clear
	listens    map[string]bool
}

// namesFor returns the generation's names of one of pi's current events.
func (p *presenter) namesFor(today string) []string {
	switch p.generation {
	case pi.Hooks1:
		if slices.Contains(
			[]string{
				"session_start",
				"session_shutdown",
				"session_before_switch",
				"session_before_fork",
				"session_before_compact",
				"session_compact",
			},
			today,
		) {
			return []string{"session"}
		}
	case pi.Hooks2:
		switch today {
		case "session_start":
			return []string{"session_start", "session_switch", "session_branch"}
		case "session_before_fork":
			return []string{"session_before_branch"}
		}
	}
	return []string{today}
}

// listensTo reports whether the file listens to one of pi's current events.
func (p *presenter) listensTo(today string) bool {
	for _, name := range p.namesFor(today) {
		if p.listens[name] {
			return true
		}
	}
	return false
}

// subject is an event with everything known about its session.
type subject struct {
	ev     *event.Event
	pi     bool      // it comes from pi itself
	own    pi.Object // pi's own event, when it does
	ctx    pi.Object // pi's own context
	spoken map[string]bool
	inner  []string // pi's events that come on their own; nil when its extension is older
	memory *sessionMemory
	// question is the question a file in log mode would have asked the user.
	question string
}

// sessionMemory holds what a hook's file remembers about a session.
type sessionMemory struct {
	index   int
	results bool // a tool gave its result since the turn began
	used    time.Time
	entries []any
	record  string // pi's own file of the session
	// headless means that the session runs unattended and takes no messages.
	headless bool
	about    contextInfo // what was last written of its context, see [Hook.shortForm]
	text     string      // the same in JSON
}

// presentEvent lists the pi events that correspond to this event and that the file listens
// to.
func (p *presenter) presentEvent(s *subject) ([]presentedEvent, error) {
	ev := s.ev
	var list []presentedEvent
	add := func(name string, fields pi.Object) {
		if p.listensTo(name) {
			if renamed := p.renameEvent(name, fields); renamed != nil {
				list = append(list, presentedEvent{name: name, fields: renamed})
			}
		}
	}
	names := byKind[ev.Kind]
	if s.pi {
		names = s.namesFromPi(names)
	}
	for _, name := range names {
		switch name {
		case "tool_call":
			if ev.Tool == nil {
				continue
			}
			if s.memory.results && !s.spoken["turn_start"] { // the model answered between results and this call
				add(
					"turn_end",
					pi.Object{
						"type":        "turn_end",
						"turnIndex":   s.memory.index,
						"message":     assistantMessage(ev),
						"toolResults": []any{},
					},
				)
				s.memory.index++
				s.memory.results = false
				add("turn_start", pi.Object{"type": "turn_start", "turnIndex": s.memory.index,
					"timestamp": ev.Time.UnixMilli()})
			}
			calls, err := p.presentCalls(s)
			if err != nil {
				return nil, err
			}
			list = append(list, calls...)
		case "tool_result":
			if ev.Tool != nil && p.listensTo(name) {
				list = append(list, p.presentResult(s))
			}
			s.memory.results = true
		default:
			if !p.listensTo(name) {
				continue
			}
			if fields := p.eventFields(name, s); fields != nil {
				add(name, fields)
			}
		}
	}
	return list, nil
}

// namesFromPi returns the names of an event that pi itself sent: its own, and those of
// its kind that pi sends no separate event for.
func (s *subject) namesFromPi(ofKind []string) []string {
	if s.inner != nil {
		return s.namesBesideInner(ofKind)
	}
	list := []string{}
	for _, name := range ofKind {
		// Our extension sends one event for the end of a turn, under the name this
		// version of pi has; it is used for all of them.
		oneEnd := s.ev.Kind == event.TurnEnd && endsTurn[name]
		if name == s.ev.Native || oneEnd || !s.spoken[name] {
			list = append(list, name)
		}
	}
	if !slices.Contains(list, s.ev.Native) {
		list = append(list, s.ev.Native)
	}
	return list
}

// maxCalls limits how many commands or files of one call are shown.
const maxCalls = 64

// presentCalls presents a tool call once for each command or file in it.
func (p *presenter) presentCalls(s *subject) ([]presentedEvent, error) {
	ev := s.ev
	if !p.listensTo("tool_call") {
		return nil, nil
	}
	subjects := pi.Subjects(ev.Tool)
	if s.pi {
		subjects = subjects[:1]
	}
	if len(subjects) > maxCalls {
		return nil, fmt.Errorf("the call names %d commands or files, more than a hook is asked about (%d)",
			len(subjects), maxCalls)
	}
	var list []presentedEvent
	for i, one := range subjects {
		c := (*pi.Call)(nil)
		if !s.pi {
			c = pi.PlainCommand(ev.Tool, one)
		}
		if c == nil {
			c = pi.CallFor(ev.Tool, one, s.pi)
		}
		id := ev.Tool.CallID
		if len(subjects) > 1 {
			id = fmt.Sprintf("%s/%d", id, i+1)
		}
		fields := s.baseFields("tool_call")
		fields["toolName"], fields["toolCallId"], fields["input"] = c.Name, id, any(c.Shown)
		if c.IsPlain() {
			fields["input"] = c.Raw
		}
		list = append(list, presentedEvent{name: "tool_call", fields: fields, call: c, id: id})
	}
	return list, nil
}

func (p *presenter) presentResult(s *subject) presentedEvent {
	t := s.ev.Tool
	all := pi.Subjects(t)
	c := pi.CallFor(t, all[0], s.pi)
	out := pi.ReadResult(t.Output)
	if len(t.Output) == 0 && s.ev.Error != "" {
		out.Content = pi.TextContent(s.ev.Error)
	}
	fields := s.baseFields("tool_result")
	failed := t.Failed
	if said, ok := fields["isError"].(bool); ok {
		failed = said // as a file before this one left it
	}
	fields["toolName"], fields["toolCallId"], fields["input"], fields["content"], fields["isError"] = c.Name, t.CallID,
		c.Shown, out.Content, failed
	return presentedEvent{name: "tool_result", fields: fields, result: &out}
}

// baseFields returns the fields pi sent for this event, if it did.
func (s *subject) baseFields(name string) pi.Object {
	if s.pi && s.ev.Native == name && s.own != nil {
		fields := pi.Clone(s.own).(pi.Object)
		fields["type"] = name
		return fields
	}
	return pi.Object{"type": name}
}

// nativeFields is the agent's own form of an event (event.native). Few hooks read
// it, so it is sent once per event and parsed on first use.
type nativeFields struct {
	Agent    string          `json:"agent"`
	Event    string          `json:"event"`
	Kind     string          `json:"kind"`
	ToolName string          `json:"toolName,omitempty"`
	ToolKind string          `json:"toolKind,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
}

func nativeJSON(ev *event.Event) string {
	o := nativeFields{Agent: ev.Agent, Event: ev.Native, Kind: string(ev.Kind)}
	if t := ev.Tool; t != nil {
		o.ToolName, o.ToolKind = t.Name, string(t.Kind)
		if input := t.CurrentInput(); jsontext.IsObject(input) {
			o.Input = input
		}
	}
	return string(pi.Encode(o))
}

func assistantMessage(ev *event.Event) pi.Object {
	content := []any{}
	if ev.Message != "" {
		content = pi.TextContent(ev.Message)
	}
	reason := "stop"
	if ev.Error != "" {
		reason = "error"
	}
	return pi.Object{
		"role":       "assistant",
		"content":    content,
		"stopReason": reason,
		"timestamp":  ev.Time.UnixMilli(),
		"model":      ev.Model,
	}
}

func userMessage(ev *event.Event) pi.Object {
	return pi.Object{"role": "user", "content": pi.TextContent(ev.Prompt), "timestamp": ev.Time.UnixMilli()}
}

// eventFields returns the fields of one event; nil means that it is not presented.
func (p *presenter) eventFields(name string, s *subject) pi.Object {
	ev := s.ev
	f := s.baseFields(name)
	if s.pi && ev.Native == name {
		if name == "agent_end" && f["messages"] == nil {
			f["messages"] = s.lastExchange() // too long to be sent along
		}
		return p.addOlderNames(name, f)
	}
	switch name {
	case "session_start":
		reason, ok := startReasons[ev.Detail]
		if !ok {
			reason = "startup"
		}
		if reason == "" {
			return nil
		}
		f["reason"] = reason
	case "session_shutdown":
		f["reason"] = "quit"
	case "input":
		f["text"], f["source"] = ev.Prompt, "interactive"
		if ev.Attended == event.AttendedNo {
			f["source"] = "rpc"
		}
	case "before_agent_start":
		f["prompt"], f["messageType"], f["systemPrompt"], f["systemPromptOptions"] = ev.Prompt, "user", "",
			promptOptions(ev)
	case "turn_start":
		f["turnIndex"], f["timestamp"] = 0, ev.Time.UnixMilli()
	case "turn_end":
		f["turnIndex"], f["message"], f["toolResults"], f["outcome"] = s.memory.index, assistantMessage(ev), []any{},
			outcomeOf(
				ev,
			)
	case "agent_end":
		f["messages"] = s.lastExchange()
	case "agent_before_settle":
		f["outcome"], f["entries"], f["continue"], f["goingOn"] = outcomeOf(ev), []any{}, false, ev.GoingOn
	case "agent_settled":
		f["aborted"] = false
	case "tool_execution_start":
		if ev.Tool == nil {
			return nil
		}
		c := pi.CallFor(ev.Tool, pi.Subjects(ev.Tool)[0], s.pi)
		f["toolName"], f["toolCallId"], f["args"] = c.Name, ev.Tool.CallID, c.Shown
	case "tool_execution_end":
		if ev.Tool == nil {
			return nil
		}
		c := pi.CallFor(ev.Tool, pi.Subjects(ev.Tool)[0], s.pi)
		f["toolName"], f["toolCallId"], f["isError"] = c.Name, ev.Tool.CallID, ev.Tool.Failed
		f["result"] = pi.Object{"content": pi.ReadResult(ev.Tool.Output).Content}
	case "session_before_compact":
		f["wants"] = []any{"signal", "resolveApiKey", "entries"}
		f["absent"] = []any{
			"preparation",
			"branchEntries",
			"cutPoint",
			"messagesToSummarize",
			"messagesToKeep",
			"tokensBefore",
			"previousSummary",
			"model",
		}
		f["reason"] = compactReason(ev.Detail)
		if ev.Prompt != "" {
			f["customInstructions"] = ev.Prompt
		}
	case "session_compact":
		f["compactionEntry"] = pi.Object{
			"type":      "compaction",
			"summary":   ev.Message,
			"timestamp": ev.Time.UTC().Format(time.RFC3339),
		}
		f["fromExtension"], f["fromHook"] = false, false
		f["absent"] = []any{"tokensBefore"}
	case "session_info_changed":
		f["name"] = ev.Title
	case "ui_prompt_start":
		f["kind"], f["title"], f["reason"] = "custom", ev.Message, ev.Detail
	}
	return f
}

var startReasons = map[string]string{
	"startup": "startup",
	"resume":  "resume",
	"clear":   "new",
	"new":     "new",
	"fork":    "fork",
	"reload":  "reload",
	"compact": "",
}

// promptOptions has the shape of pi's own; other agents do not report its content.
func promptOptions(ev *event.Event) pi.Object {
	return pi.Object{
		"cwd":              ev.Cwd,
		"selectedTools":    []any{"read", "bash", "edit", "write"},
		"toolSnippets":     pi.Object{},
		"toolGuidelines":   pi.Object{},
		"promptGuidelines": []any{},
		"sections":         pi.Object{},
		"contextFiles":     []any{},
		"skills":           []any{},
	}
}

func outcomeOf(ev *event.Event) string {
	if ev.Error != "" {
		return "error"
	}
	return "completed"
}

func compactReason(detail string) string {
	if detail == "manual" {
		return "manual"
	}
	return "threshold"
}

func (s *subject) lastExchange() []any {
	list := []any{}
	entries := s.memory.entries
	for i := len(entries) - 1; i >= 0; i-- {
		if e, ok := entries[i].(pi.Object); ok {
			if m, ok := e["message"].(pi.Object); ok && m["role"] == "user" {
				list = append(list, m)
				break
			}
		}
	}
	return append(list, assistantMessage(s.ev))
}
