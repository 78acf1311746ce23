package ahp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// Incoming is a message of an agent to hookmux, as the daemon is told of it.
type Incoming struct {
	ID      string // of a question; "" of what is only told
	Version string
	Event   string // the name of the event in agent/data/ahp.yaml
	Payload []byte
	Session string
	Call    string
	// Harness is what the agent calls itself, if it does. It is a word, and no proof.
	Harness string
}

// Asks reports whether the agent waits for an answer.
func (m *Incoming) Asks() bool { return m.ID != "" }

// Refusal is why a message cannot be taken. ID is what it is answered under, "null"
// where that cannot be known; an empty one is not answered at all.
type Refusal struct {
	ID   json.RawMessage
	Code int
	Text string
	Data any
}

func (r *Refusal) Error() string { return r.Text }

// Line is the refusal as a message; nil where nobody waits for one.
func (r *Refusal) Line() []byte {
	if len(r.ID) == 0 {
		return nil
	}
	type wireError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}
	return encodeLine(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   wireError       `json:"error"`
	}{"2.0", r.ID, wireError{r.Code, r.Text, r.Data}})
}

// RefuseTo refuses a question that was read.
func (m *Incoming) RefuseTo(code int, text string) *Refusal {
	return &Refusal{ID: quoted(m.ID), Code: code, Text: text}
}

// ResultLine answers a question with effects. No effects are an empty list.
func (m *Incoming) ResultLine(effects []byte) ([]byte, error) {
	if len(effects) == 0 {
		effects = []byte("[]")
	}
	if !jsontext.IsArray(effects) || !jsontext.Valid(effects) {
		return nil, errors.New("the daemon's answer is no list of effects")
	}
	return encodeLine(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Result  any    `json:"result"`
	}{"2.0", m.ID, struct {
		Version string          `json:"protocolVersion"`
		Effects json.RawMessage `json:"effects"`
	}{m.Version, effects}}), nil
}

func quoted(text string) json.RawMessage {
	b, _ := json.Marshal(text) // a text always is JSON
	return b
}

// payload is what the daemon is told; agent/data/ahp.yaml names the fields.
type payload struct {
	Session      string          `json:"session,omitempty"`
	Turn         string          `json:"turn,omitempty"`
	Cwd          string          `json:"cwd,omitempty"`
	Model        string          `json:"model,omitempty"`
	Title        string          `json:"title,omitempty"`
	Prompt       string          `json:"prompt,omitempty"`
	Message      string          `json:"message,omitempty"`
	Detail       string          `json:"detail,omitempty"`
	Error        string          `json:"error,omitempty"`
	SubagentID   string          `json:"subagentId,omitempty"`
	SubagentType string          `json:"subagentType,omitempty"`
	ToolName     string          `json:"toolName,omitempty"`
	ToolKind     string          `json:"toolKind,omitempty"`
	ToolInput    json.RawMessage `json:"toolInput,omitempty"`
	ToolOutput   json.RawMessage `json:"toolOutput,omitempty"`
	ToolCall     string          `json:"toolCallId,omitempty"`
	Failed       bool            `json:"failed,omitempty"`
	Offered      []string        `json:"offered,omitempty"`
	Version      string          `json:"version"`
	Source       string          `json:"source,omitempty"`
	EventID      string          `json:"eventId,omitempty"`
}

// ConnectPayload is what the daemon is told when an agent begins to ask.
func ConnectPayload(cwd string) []byte { return encodeLine(payload{Cwd: cwd, Version: ""}) }

// EventConnect is the event by which that is told.
const EventConnect = "ahp:connect"

// asked and told are the events that count, by the protocol's names.
var (
	asked = []string{"tool.before", "tool.permission.request"}
	told  = map[string]string{
		"session.start": "ahp:session.start", "session.end": "ahp:session.end", "turn.start": "ahp:turn.start",
		"turn.end": "ahp:turn.end", "tool.after": "ahp:tool.after", "tool.error": "ahp:tool.after",
		"tool.before": "ahp:tool.before.told", "tool.permission.request": "ahp:tool.permission.told",
		"tool.permission.resolved": "ahp:tool.permission.resolved", "user.attention": "ahp:user.attention",
		"context.compact.before": "ahp:context.compact.before", "context.compact.after": "ahp:context.compact.after",
	}
)

// IsToldOnly reports whether it tells of something that an agent may also ask about.
func (m *Incoming) IsToldOnly() bool {
	return slices.ContainsFunc(asked, func(kind string) bool { return told[kind] == m.Event })
}

// ReadIncoming reads a message of an agent. What does not fit is refused with a code, so
// that the agent's own policy for failures holds: nothing is guessed about a call.
func ReadIncoming(message []byte) (*Incoming, *Refusal) {
	null := json.RawMessage("null")
	m, err := members(message)
	if err != nil {
		return nil, &Refusal{null, CodeNoJSON, "no message can be read: " + err.Error(), nil}
	}
	id, asks := m["id"]
	switch {
	case asks && !isNull(id) && !isID(id):
		return nil, &Refusal{null, CodeNoMessage, "id is neither a text nor a number", nil}
	case asks:
		id = append(json.RawMessage{}, id...)
	}
	refuse := func(code int, format string, args ...any) (*Incoming, *Refusal) {
		return nil, &Refusal{id, code, fmt.Sprintf(format, args...), nil}
	}
	if err := checkEnvelope(m); err != nil {
		return refuse(CodeNoMessage, "%v", err)
	}
	method, err := textOf(m, "method")
	switch {
	case err != nil || method == "":
		return refuse(CodeNoMessage, "method is missing")
	case method != MethodIntercept && method != MethodObserve:
		return refuse(CodeNoMethod, "there is no method %q here", termsafe.CutMarked(method, 60))
	case (method == MethodIntercept) != asks:
		return refuse(CodeNoMessage, "%s is a request with an id, %s a notification without one", MethodIntercept,
			MethodObserve)
	}
	params, err := objectOf(m, "params")
	if err != nil || params == nil {
		return refuse(CodeParams, "params are missing or no object")
	}
	version, _ := textOf(params, "protocolVersion")
	if !slices.Contains(hook.AHPVersions(), version) {
		refused := &Refusal{id, CodeUnsupportedVersion, fmt.Sprintf("the version %q is not spoken here",
			termsafe.CutMarked(version, 40)), map[string]any{"supported": hook.AHPVersions()}}
		return nil, refused
	}
	in, code, err := readEvent(params, version, asks)
	if err != nil {
		return refuse(code, "%v", err)
	}
	if text, ok := jsontext.String(id); asks && (!ok || text != in.ID || text == "") {
		return refuse(CodeParams, "the id of the request is not that of its event")
	}
	if !asks {
		in.ID = ""
	}
	return in, nil
}

func isID(id json.RawMessage) bool {
	var number json.Number
	_, text := jsontext.String(id)
	return text || json.Unmarshal(id, &number) == nil
}

func readEvent(params map[string]json.RawMessage, version string, asks bool) (*Incoming, int, error) {
	e, err := objectOf(params, "event")
	if err != nil || e == nil {
		return nil, CodeParams, errors.New("params.event is missing or no object")
	}
	var texts struct{ id, source, kind, time string }
	for name, into := range map[string]*string{"id": &texts.id, "source": &texts.source, "type": &texts.kind,
		"time": &texts.time} {
		if *into, err = textOf(e, name); err != nil || *into == "" {
			return nil, CodeParams, fmt.Errorf("event.%s is missing or no text", name)
		}
	}
	if _, err := time.Parse(time.RFC3339, texts.time); err != nil {
		return nil, CodeParams, errors.New("event.time is no time as RFC 3339 writes it")
	}
	if more, _ := objectOf(e, "extensions"); more[extensionName] != nil {
		return nil, CodeUnavailable, errors.New("hookmux itself asks this: a hook of hookmux whose target is hookmux " +
			"ahp would be asked without end; take it out")
	}
	in := &Incoming{ID: texts.id, Version: version, Event: told[texts.kind]}
	p := payload{Version: version, Source: texts.source, EventID: texts.id}
	if asks {
		if !slices.Contains(asked, texts.kind) || texts.kind != "tool.before" && version == hook.AHPVersion01 {
			return nil, CodeUnsupportedEvent, fmt.Errorf("the event %q cannot be asked about here; tool.before can",
				termsafe.CutMarked(texts.kind, 60))
		}
		in.Event = "ahp:" + texts.kind
		if p.Offered, err = readOffered(params); err != nil {
			return nil, CodeParams, err
		}
	}
	if in.Event == "" {
		return nil, CodeUnsupportedEvent, fmt.Errorf("the event %q is not known here", termsafe.CutMarked(texts.kind, 60))
	}
	if err := readSession(e, version, &p); err != nil {
		return nil, CodeParams, err
	}
	if err := readTool(e, texts.kind, &p); err != nil {
		return nil, CodeParams, err
	}
	readRest(e, texts.kind, &p)
	in.Session, in.Call, in.Harness = p.Session, p.ToolCall, harnessName(e)
	in.Payload = encodeLine(p)
	return in, 0, nil
}

// readOffered is what the agent can carry, in the words of agent/data/ahp.yaml.
func readOffered(params map[string]json.RawMessage) (words []string, err error) {
	c, err := objectOf(params, "capabilities")
	if err != nil || c == nil || !jsontext.IsArray(c["effects"]) {
		return nil, errors.New("params.capabilities.effects is missing or no list")
	}
	var effects []string
	if json.Unmarshal(c["effects"], &effects) != nil {
		return nil, errors.New("params.capabilities.effects is no list of texts")
	}
	flag := func(path ...string) bool { return string(jsontext.Get(c[path[0]], path[1:]...)) == "true" }
	for _, effect := range effects {
		switch effect {
		case "deny", "allow", "ask", "message":
			words = append(words, effect)
		case "modify":
			for _, operation := range []string{"replace", "merge"} {
				if flag("modify", "input", operation) {
					words = append(words, operation)
				}
			}
			if slices.Contains(words, "replace") || slices.Contains(words, "merge") {
				words = append(words, "input")
			}
		case "inject":
			now := listsText(jsontext.Get(c["inject"], "context", "deliverAt"), "now")
			if now && flag("inject", "context", "append") {
				words = append(words, "context")
			}
		}
	}
	if !slices.Contains(words, "deny") {
		return nil, errors.New("the effect deny is not offered, without which nothing can be guarded")
	}
	return words, nil
}

func listsText(list []byte, want string) (there bool) {
	_ = jsontext.Array(list, func(value []byte) bool {
		text, _ := jsontext.String(value)
		there = text == want
		return !there
	})
	return there
}

func readSession(e map[string]json.RawMessage, version string, p *payload) error {
	s, err := objectOf(e, "session")
	if err != nil {
		return fmt.Errorf("event.%w", err)
	}
	if s == nil {
		if version == hook.AHPVersion01 {
			return errors.New("event.session is missing")
		}
		return nil // work that belongs to no session
	}
	for name, into := range map[string]*string{"id": &p.Session, "cwd": &p.Cwd, "model": &p.Model} {
		if *into, err = textOf(s, name); err != nil {
			return fmt.Errorf("event.session.%w", err)
		}
	}
	if p.Session == "" {
		return errors.New("event.session.id is missing")
	}
	if p.Cwd == "" {
		_ = jsontext.Array(s["workspaceRoots"], func(root []byte) bool {
			p.Cwd, _ = jsontext.String(root)
			return false
		})
	}
	if agent, _ := objectOf(s, "agent"); agent != nil {
		p.SubagentID, _ = textOf(agent, "id")
		p.SubagentType, _ = textOf(agent, "type")
		if p.SubagentType == "primary" || p.SubagentType == "main" {
			p.SubagentID, p.SubagentType = "", ""
		}
	}
	return nil
}

// readTool reads the call. The version 0.1 has its name within the tool, the draft
// beside it; an agent may have followed the draft from one to the other.
func readTool(e map[string]json.RawMessage, kind string, p *payload) error {
	t, err := objectOf(e, "tool")
	if err != nil {
		return fmt.Errorf("event.%w", err)
	}
	if t == nil {
		if strings.HasPrefix(kind, "tool.") {
			return errors.New("event.tool is missing")
		}
		return nil
	}
	for name, into := range map[string]*string{"name": &p.ToolName, "kind": &p.ToolKind, "callId": &p.ToolCall} {
		if *into, err = textOf(t, name); err != nil {
			return fmt.Errorf("event.tool.%w", err)
		}
	}
	call, err := objectOf(e, "call")
	if err != nil {
		return fmt.Errorf("event.%w", err)
	}
	if call != nil {
		if p.ToolCall, err = textOf(call, "id"); err != nil {
			return fmt.Errorf("event.call.%w", err)
		}
	}
	switch {
	case p.ToolName == "":
		return errors.New("event.tool.name is missing")
	case !jsontext.IsObject(t["input"]):
		return errors.New("event.tool.input is missing or no object")
	case p.ToolCall == "":
		return errors.New("the call has no id, neither in event.call nor in event.tool.callId")
	}
	if err := checkNames(t["input"]); err != nil {
		return fmt.Errorf("event.tool.input %w", err)
	}
	if !knownKind(p.ToolKind) {
		p.ToolKind = "" // nothing is decided by a word that nobody knows
	}
	p.ToolInput, p.ToolOutput = t["input"], t["output"]
	if failure, _ := objectOf(t, "error"); failure != nil {
		p.Failed = true
		p.Error, _ = textOf(failure, "message")
	}
	return nil
}

// checkNames refuses an input whose keys stand there twice: guards might see one, and
// the agent run the other.
func checkNames(input []byte) error {
	_, err := members(input)
	return err
}

func knownKind(kind string) bool {
	k := event.ToolKind(kind)
	return k.Known() && k != event.Question && k != event.Plan
}

// readRest reads what only some events have.
func readRest(e map[string]json.RawMessage, kind string, p *payload) {
	if turn, _ := objectOf(e, "turn"); turn != nil {
		p.Turn, _ = textOf(turn, "id")
	}
	outcome, _ := textOf(e, "outcome")
	text, _ := contentText(e["items"], 4)
	switch kind {
	case "turn.start":
		p.Prompt = text
	case "turn.end":
		p.Message, p.Detail = text, outcome
	case "tool.error":
		p.Failed = true
	case "tool.after":
		p.Failed = p.Failed || outcome == "error" || outcome == "timeout"
		if failure, _ := objectOf(e, "error"); failure != nil && p.Error == "" {
			p.Error, _ = textOf(failure, "message")
		}
		if text != "" && len(p.ToolOutput) == 0 {
			p.ToolOutput = quoted(text)
		}
	case "session.start":
		p.Detail, _ = textOf(e, "trigger")
	case "session.end":
		p.Detail, _ = textOf(e, "reason")
		if p.Detail == "" {
			p.Detail = outcome
		}
	case "user.attention":
		if a, _ := objectOf(e, "attention"); a != nil {
			p.Detail, _ = textOf(a, "kind")
			p.Message, _ = contentText(a["message"], 4)
		}
	}
}

// harnessName is what an agent calls itself, where it does.
func harnessName(e map[string]json.RawMessage) string {
	if h, _ := objectOf(e, "harness"); h != nil {
		if name, _ := textOf(h, "name"); name != "" {
			return name
		}
	}
	if n, _ := objectOf(e, "native"); n != nil {
		name, _ := textOf(n, "provider")
		return name
	}
	return ""
}
