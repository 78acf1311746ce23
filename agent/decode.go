package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent/dialect"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Input is one call of an agent's hook as it reached hookmux.
type Input struct {
	ID   string
	Time time.Time

	Agent string // name or alias, as the installed command says it
	Event string // the native event, as the installed command says it

	Payload   []byte // what the agent wrote to the hook's stdin
	Cwd       string // of the hook process; the payload's own word counts more
	Truncated bool   // the client had to cut the payload
	Nested    bool   // one of your hooks made the call, perhaps with the event that it was given

	// Env looks up a variable of the hook process; may be nil. Some agents report version,
	// attendance and pane there.
	Env func(string) string
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Decode reads a hook call into an event. It never fails: what can't be read is still an
// event, with Malformed saying why and Raw holding the bytes as they came (Raw aliases
// in.Payload). An event name in the payload takes precedence over in.Event if the agent has
// such an event.
func (c *Catalogue) Decode(in Input) event.Event {
	a := c.entry(in.Agent, in.Event)
	if a.RawBreaks {
		in.Payload = withoutBreaks(in.Payload)
	}
	ev := event.Event{
		ID: in.ID, Time: in.Time, Agent: in.Agent, Native: in.Event, Kind: event.Other,
		Raw: in.Payload, Truncated: in.Truncated, Nested: in.Nested,
	}
	if known, ok := c.byName[in.Agent]; ok {
		ev.Agent = known.Name
	}
	table := a.compiled.events[in.Event]
	if table == nil {
		if table = c.answering(in.Agent, in.Event).compiled.events[in.Event]; table == nil {
			table = a.compiled.unknown
		}
	}
	var r reading
	err := r.read(in.Payload, table)
	if name := r.text(fEvent); name != "" && (table.spec == nil || name != table.spec.Name) {
		if said := a.compiled.events[name]; said != nil {
			// The keys of the event that was really meant may differ.
			table = said
			r = reading{}
			err = r.read(in.Payload, table)
		} else if ev.Native == "" {
			ev.Native = name
		}
	}
	if err != nil {
		ev.Malformed = describe(in.Payload, err)
	}
	if table.spec != nil {
		ev.Native, ev.Kind = table.spec.Name, table.spec.kindOf(in.Payload)
		ev.Detail = table.spec.Detail
	}
	r.fill(&ev, c, a, table.spec)
	if ev.Cwd == "" {
		ev.Cwd = in.Cwd
	}
	if in.Env != nil {
		a.fromEnvironment(&ev, in.Env)
	}
	if finish := a.compiled.dialect.Finish; finish != nil {
		ev.Subagent = finish(dialect.Decoded{Kind: ev.Kind, Session: ev.Session, Subagent: ev.Subagent, Tool: ev.Tool})
	}
	if _, known := c.EntryOf(in.Agent, in.Event); known && ev.Kind == event.ToolBefore && ev.Tool == nil &&
		ev.Malformed == "" && !ev.Truncated && !ev.Nested {
		ev.Malformed = noTool
	}
	return ev
}

// withoutBreaks makes JSON of a payload whose texts hold control characters; what was stored
// of one is a text itself.
func withoutBreaks(payload []byte) []byte {
	if text, ok := jsontext.String(bytes.TrimSpace(payload)); ok {
		payload = []byte(text)
	}
	return jsontext.EscapeBreaks(payload)
}

// describe says why a payload could not be read, in one line.
func describe(payload []byte, err error) string {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(payload, byteOrderMark))
	switch {
	case len(trimmed) == 0:
		return "the payload is empty"
	case trimmed[0] == '"' && jsontext.Valid(trimmed): // also how text that is no JSON is carried and stored
		return "the payload is a text, no JSON object"
	case trimmed[0] != '{' && jsontext.Valid(trimmed):
		return "the payload is JSON but no object"
	}
	return "the payload is not JSON: " + err.Error()
}

// noTool and noCommand are why a call can't be read when an agent's new version puts its
// tool or command somewhere else. Without them its guards would disappear silently.
const (
	noTool    = "the payload names no tool"
	noCommand = "the call names no command"
)

// saidTwice is why a call can't be read whose payload has the tool or its input twice: it
// isn't known which of them the agent uses.
const saidTwice = "the payload names the tool or its input twice"

// reading holds the values a payload had for the fields; they point into it.
type reading struct {
	value      [fieldCount][]byte
	rank       [fieldCount]uint8
	background int
	truncated  bool
	failed     bool
	stopped    bool
	ambiguous  bool // the tool or its input stands twice, and not with the same value
}

func (r *reading) read(payload []byte, table *eventTable) error {
	keys := table.keys
	return jsontext.Object(bytes.TrimPrefix(payload, byteOrderMark), func(key, value []byte) bool {
		sources := keys[string(key)]
		for i := range sources {
			r.setField(&sources[i], value)
		}
		return true
	})
}

// setField records what one payload key says about one field.
func (r *reading) setField(s *source, value []byte) {
	if len(s.sub) > 0 {
		if value = jsontext.Get(value, s.sub...); value == nil {
			return
		}
	}
	switch s.field {
	case fBackground:
		_ = jsontext.Array(value, func([]byte) bool { r.background++; return true })
		return
	case fTruncated:
		r.truncated = r.truncated || string(value) == "true"
		return
	case fFailed:
		r.failed = r.failed || string(value) == "true"
		return
	case fInterrupted:
		r.stopped = r.stopped || string(value) == "true"
		return
	}
	if old := r.value[s.field]; (s.field == fToolName || s.field == fToolInput) && !blank(old) && !blank(value) &&
		r.rank[s.field] == s.rank && !bytes.Equal(old, value) {
		r.ambiguous = true
	}
	if old := r.value[s.field]; old != nil && (r.rank[s.field] < s.rank || blank(value)) && !blank(old) {
		return
	}
	r.value[s.field], r.rank[s.field] = value, s.rank
}

// blank reports whether a value says nothing.
func blank(v []byte) bool {
	return len(v) == 0 || string(v) == "null" || string(v) == `""`
}

// text returns a field as a string: numbers and booleans as they are spelt, and the text of
// a list of message parts.
func (r *reading) text(f field) string {
	v := r.value[f]
	if blank(v) {
		return ""
	}
	if s, ok := jsontext.String(v); ok {
		return s
	}
	if jsontext.IsArray(v) {
		if s := partsText(v); s != "" {
			return s
		}
	}
	return string(v)
}

// folder returns a field that holds a folder; of a list of them the first one.
func (r *reading) folder(f field) string {
	if v := r.value[f]; jsontext.IsArray(v) {
		first := ""
		_ = jsontext.Array(v, func(one []byte) bool { first, _ = jsontext.String(one); return false })
		return first
	}
	return r.text(f)
}

// readOffers reads the standing approvals that an agent offers. Those that count
// together only are one.
func readOffers(list []byte, joined bool) (offers []json.RawMessage) {
	_ = jsontext.Array(list, func(one []byte) bool { offers = append(offers, one); return true })
	if joined && len(offers) > 1 {
		return []json.RawMessage{list}
	}
	return offers
}

// partsText joins the texts of a list of message parts.
func partsText(list []byte) string {
	var texts []string
	_ = jsontext.Array(list, func(part []byte) bool {
		if jsontext.IsObject(part) {
			part = jsontext.Get(part, "text")
		}
		if s, ok := jsontext.String(part); ok && s != "" {
			texts = append(texts, s)
		}
		return true
	})
	return strings.Join(texts, "\n")
}

// kindOf returns the event's kind for one payload.
func (e *EventSpec) kindOf(payload []byte) event.Kind {
	if len(e.KindWith) == 0 && len(e.KindWithout) == 0 {
		return e.Kind
	}
	payload = bytes.TrimPrefix(payload, byteOrderMark)
	there := func(key string) bool { return !blank(jsontext.Get(payload, strings.Split(key, ".")...)) }
	for key, kind := range e.KindWith {
		if there(key) {
			return kind
		}
	}
	for key, kind := range e.KindWithout {
		if !there(key) {
			return kind
		}
	}
	return e.Kind
}

func (r *reading) fill(ev *event.Event, c *Catalogue, a *Agent, spec *EventSpec) {
	ev.Session = r.text(fSession)
	ev.Turn = r.text(fTurn)
	ev.Cwd = r.folder(fCwd)
	ev.Mode = r.text(fMode)
	ev.Model = r.text(fModel)
	ev.Title = r.text(fTitle)
	ev.Transcript = r.text(fTranscript)
	ev.Prompt = r.text(fPrompt)
	ev.Message = r.text(fMessage)
	if detail := r.text(fDetail); detail != "" {
		ev.Detail = detail
	}
	ev.Error = r.text(fError)
	ev.GoingOn = string(r.value[fGoingOn]) == "true"
	ev.Background = r.background
	ev.Interrupted = r.stopped
	ev.Truncated = ev.Truncated || r.truncated
	if id, kind := r.text(fSubagentID), r.text(fSubagentType); id != "" || kind != "" {
		ev.Subagent = &event.Subagent{ID: id, Type: kind, Parent: r.text(fParent)}
	} else if parent := r.text(fParent); parent != "" {
		ev.Subagent = &event.Subagent{Parent: parent}
	}
	if version := r.text(fVersion); version != "" {
		ev.AgentVersion = version
	}
	switch string(r.value[fAttended]) {
	case "true":
		ev.Attended = event.AttendedYes
	case "false":
		ev.Attended = event.AttendedNo
	}
	if list := r.value[fQuestions]; list != nil {
		ev.Questions = readQuestions(list)
	}
	if list := r.value[fSuggestions]; list != nil {
		ev.Suggestions = readOffers(list, a.compiled.joined)
	}
	name, input := r.text(fToolName), r.value[fToolInput]
	if spec != nil && spec.Tool != "" {
		name = cmp.Or(name, spec.Tool)
		if input == nil {
			input = ev.Raw
		}
	}
	if name == "" && (input == nil || blank(input) && !strings.HasPrefix(string(ev.Kind), "tool.")) {
		return // some agents have the members of a call in every payload, as null
	}
	t := c.tool(ev.Agent, a, name)
	tool := &event.Tool{Name: name, Kind: t.spec.Kind, CallID: r.text(fToolCall), Input: unwrapJSONString(input),
		Output: r.value[fToolOutput]}
	tool.Failed = r.failed || spec != nil && spec.Failed
	if ms := r.value[fDurationMS]; ms != nil {
		if n, err := strconv.ParseFloat(string(ms), 64); err == nil && n > 0 && n < 1e12 {
			tool.Duration = time.Duration(n * float64(time.Millisecond))
		}
	}
	if t.mcp != nil {
		tool.MCP = t.mcp.split(name, r.text(fMCPServer))
	}
	if why := c.readTool(a, t, tool.Input, tool); why != "" && ev.Malformed == "" {
		ev.Malformed = why
	}
	if r.ambiguous && ev.Malformed == "" {
		ev.Malformed = saidTwice
	}
	if ev.Kind == event.ToolBefore && ev.Malformed == "" && !ev.Truncated && t.lacksCommand(tool) {
		ev.Malformed = noCommand
	}
	switch tool.Kind {
	case event.Question:
		if ev.Questions == nil {
			ev.Questions = questionsOf(tool.Input)
		}
	case event.Plan:
		ev.Plan, _ = jsontext.String(jsontext.Get(tool.Input, "plan"))
	}
	ev.Tool = tool
}

// unwrapJSONString decodes an input that is a JSON string with an object in it: some agents
// pass on the text of the model's call.
func unwrapJSONString(input []byte) []byte {
	if len(input) == 0 || input[0] != '"' {
		return input
	}
	if s, ok := jsontext.String(input); ok && strings.HasPrefix(strings.TrimSpace(s), "{") &&
		jsontext.Valid([]byte(s)) {
		return []byte(s)
	}
	return input
}

// fromEnvironment reads what the agent says in its hooks' environment.
func (a *Agent) fromEnvironment(ev *event.Event, env func(string) string) {
	if v := a.Version; v.Env != "" {
		if rest, ok := strings.CutPrefix(env(v.Env), v.Prefix); ok && rest != "" {
			if v.Until != "" {
				rest, _, _ = strings.Cut(rest, v.Until)
			}
			ev.AgentVersion = strings.ReplaceAll(rest, "-", ".")
		}
	}
	if at := a.Attended; at.Env != "" {
		switch env(at.Env) {
		case "":
		case at.Yes:
			ev.Attended = event.AttendedYes
		case at.No:
			ev.Attended = event.AttendedNo
		}
	}
	if p := a.Pane; p.Env != "" {
		if p.UnlessEnv != "" && strings.Contains(env(p.UnlessEnv), p.UnlessHas) {
			ev.Where.Shared = true
		} else {
			ev.Where.Pane = env(p.Env)
		}
	}
}
