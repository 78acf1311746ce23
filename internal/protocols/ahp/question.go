package ahp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
)

// Offer is which effects count for one event: what the agent can carry, and
// hookmux can bring about in its place.
type Offer struct {
	Deny    bool
	Allow   bool
	Ask     bool
	Input   bool // the call's input may be changed, key by key
	Context bool
	Message bool
	Keep    bool // an end may become going on
}

// Any reports whether there is anything to offer: else nothing can be asked, only told.
func (o Offer) Any() bool { return o != Offer{} }

// OfferFor is what a hook of a mode may say to an event, in a version.
func OfferFor(version string, kind event.Kind, mode hook.Role, carries event.Carries) (o Offer) {
	if mode == hook.Observe || !hook.AHPHas(version, kind) {
		return Offer{}
	}
	if mode == hook.Guard && kind.Guarded() && carries.Deny {
		o.Deny = true
	}
	if version == hook.AHPVersion01 {
		if kind != event.ToolBefore {
			return Offer{}
		}
		return o
	}
	if mode == hook.Guard && kind.Guarded() {
		o.Allow = carries.Allow
		o.Ask = carries.Ask || carries.Deny // where the agent cannot ask, hookmux asks a person or refuses
		o.Input = carries.Input
	}
	o.Context, o.Message = carries.Context, carries.Notice
	o.Keep = carries.Keep && kind == event.TurnEnd
	return o
}

// Question is what makes a message of an event.
type Question struct {
	Version string
	Source  string // a URI that stays the same for this installation
	Project string // the folder of the project, "" when none
	Native  bool   // with the agent's own payload
	Offer   Offer  // nothing: the backend is only told
}

// Message is the event as a backend reads it, one line, and its id. It is false
// for an event that the version has no word for.
func (q Question) Message(ev *event.Event) (line []byte, ok bool) {
	if !hook.AHPHas(q.Version, ev.Kind) {
		return nil, false
	}
	asks := q.Offer.Any()
	params := wireParams{Version: q.Version, Event: q.wireEvent(ev, asks)}
	if !asks {
		return encodeLine(wireMessage{JSONRPC: "2.0", Method: MethodObserve, Params: params}), true
	}
	params.Capabilities = q.Offer.capabilities(ev)
	return encodeLine(wireMessage{JSONRPC: "2.0", ID: ev.ID, Method: MethodIntercept, Params: params}), true
}

type wireMessage struct {
	JSONRPC string     `json:"jsonrpc"`
	ID      string     `json:"id,omitempty"`
	Method  string     `json:"method"`
	Params  wireParams `json:"params"`
}

type wireParams struct {
	Version      string            `json:"protocolVersion"`
	Event        wireEvent         `json:"event"`
	Capabilities *wireCapabilities `json:"capabilities,omitempty"`
}

type wireCapabilities struct {
	Effects []string `json:"effects"`
	Modify  any      `json:"modify,omitempty"`
	Flow    any      `json:"flow,omitempty"`
	Inject  any      `json:"inject,omitempty"`
}

func (o Offer) capabilities(ev *event.Event) *wireCapabilities {
	c := &wireCapabilities{}
	for _, one := range []struct {
		name string
		has  bool
	}{{"deny", o.Deny}, {"allow", o.Allow}, {"ask", o.Ask}, {"modify", o.Input}, {"message", o.Message},
		{"inject", o.Context}, {"flow", o.Keep}} {
		if one.has {
			c.Effects = append(c.Effects, one.name)
		}
	}
	if o.Input {
		c.Modify = map[string]any{"input": map[string]bool{"replace": false, "merge": true}}
	}
	if o.Context {
		c.Inject = map[string]any{"context": map[string]any{"append": true, "deliverAt": []string{"now"}}}
	}
	if o.Keep {
		c.Flow = map[string]any{"operations": []string{"continue"}, "remainingContinuations": 1,
			"continuationCount": keptGoing(ev)}
	}
	return c
}

// keptGoing is how often this turn was kept going, as far as agents say: once or never.
func keptGoing(ev *event.Event) int {
	if ev.GoingOn {
		return 1
	}
	return 0
}

type wireEvent struct {
	ID      string        `json:"id"`
	Source  string        `json:"source"`
	Type    string        `json:"type"`
	Time    string        `json:"time"`
	Session *wireSession  `json:"session,omitempty"`
	Turn    *wireIdentity `json:"turn,omitempty"`
	Tool    *wireTool     `json:"tool,omitempty"`
	Call    *wireIdentity `json:"call,omitempty"`
	Path    string        `json:"path,omitempty"`

	Trigger       string         `json:"trigger,omitempty"`
	Outcome       string         `json:"outcome,omitempty"`
	Reason        string         `json:"reason,omitempty"`
	Execution     any            `json:"execution,omitempty"`
	Error         any            `json:"error,omitempty"`
	Continuations *int           `json:"continuationCount,omitempty"`
	Items         *[]wireContent `json:"items,omitempty"`
	Attention     any            `json:"attention,omitempty"`
	Suggestions   *[]any         `json:"suggestions,omitempty"`
	SandboxBypass *bool          `json:"sandboxBypass,omitempty"`

	Native     *wireNative    `json:"native,omitempty"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

type wireSession struct {
	ID          string     `json:"id"`
	Synthesized bool       `json:"synthesized,omitempty"`
	Cwd         string     `json:"cwd,omitempty"`
	Roots       []string   `json:"workspaceRoots,omitempty"`
	Model       string     `json:"model,omitempty"`
	Agent       *wireAgent `json:"agent,omitempty"`
}

type wireAgent struct {
	ID   string `json:"id"`
	Type string `json:"type,omitempty"`
}

type wireIdentity struct {
	ID          string `json:"id"`
	Synthesized bool   `json:"synthesized,omitempty"`
}

type wireTool struct {
	CallID string          `json:"callId,omitempty"` // 0.1; the draft has it beside the tool
	Name   string          `json:"name"`
	Kind   string          `json:"kind"`
	Input  json.RawMessage `json:"input"`
	Origin string          `json:"origin,omitempty"` // draft
	Output json.RawMessage `json:"output,omitempty"` // 0.1
	Error  any             `json:"error,omitempty"`  // 0.1
	// MCP is of 0.1; the draft wants to know the connection, which nobody tells hookmux.
	MCP *event.MCPCall `json:"mcp,omitempty"`
}

type wireNative struct {
	Provider string          `json:"provider"`
	Event    string          `json:"eventName"`
	Payload  json.RawMessage `json:"payload"`
}

// wireContent is a message that the model sees, as the draft writes one.
type wireContent struct {
	ID    string     `json:"id"`
	Role  string     `json:"role"`
	Parts []wirePart `json:"parts"`
}

type wirePart struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	MediaType string `json:"mediaType"`
	Selection string `json:"selection"`
	Text      string `json:"text"`
}

func textPart(id, text string) wirePart {
	return wirePart{ID: id, Kind: "text", MediaType: "text/plain", Selection: "body", Text: text}
}

func textMessages(id, role, text string) []wireContent {
	if text == "" {
		return []wireContent{}
	}
	return []wireContent{{ID: id, Role: role, Parts: []wirePart{textPart(id+"-text", text)}}}
}

// extensionName is under what hookmux adds what it knows and the protocol has no
// room for.
const extensionName = "com.github.hookmux"

func (q Question) wireEvent(ev *event.Event, asks bool) wireEvent {
	draft := q.Version == hook.AHPVersionDraft
	w := wireEvent{
		ID: ev.ID, Source: q.Source, Type: typeOf(q.Version, ev, asks), Time: ev.Time.UTC().Format(time.RFC3339Nano),
		Session: q.wireSession(ev, draft), Extensions: map[string]any{extensionName: extension(ev)},
	}
	if q.Native {
		payload := json.RawMessage(ev.Raw)
		if !jsontext.IsObject(payload) || !jsontext.Valid(payload) {
			payload = json.RawMessage("{}")
		}
		w.Native = &wireNative{ev.Agent, ev.Native, payload}
	}
	if ev.Tool != nil {
		q.addTool(&w, ev, draft)
	}
	if draft {
		addDraftMembers(&w, ev)
	} else if ev.Kind == event.SessionEnd {
		w.Outcome = "unknown"
	}
	return w
}

// typeOf is the protocol's name of an event. An end at which a backend may say "go on"
// is another event than one that it is told of.
func typeOf(version string, ev *event.Event, asks bool) string {
	switch {
	case ev.Kind == event.TurnEnd && asks:
		return "turn.finish.before"
	case ev.Kind == event.ToolAfter && version == hook.AHPVersion01 && ev.Tool != nil && ev.Tool.Failed:
		return "tool.error"
	}
	return string(ev.Kind)
}

func (q Question) wireSession(ev *event.Event, draft bool) *wireSession {
	s := &wireSession{ID: ev.Session, Cwd: ev.Cwd, Model: ev.Model}
	if s.ID == "" {
		s.ID, s.Synthesized = "none-"+ev.ID, draft
	}
	if q.Project != "" {
		s.Roots = []string{q.Project}
	}
	if sub := ev.Subagent; sub != nil && (sub.ID != "" || sub.Type != "") {
		s.Agent = &wireAgent{ID: sub.ID, Type: sub.Type}
		if s.Agent.ID == "" {
			s.Agent.ID = sub.Type
		}
	}
	return s
}

func (q Question) addTool(w *wireEvent, ev *event.Event, draft bool) {
	t := ev.Tool
	id, made := t.CallID, false
	if id == "" {
		id, made = synthesizedCall(ev), true
	}
	w.Tool = &wireTool{Name: t.Name, Kind: kindWord(t.Kind), Input: inputObject(t.CurrentInput())}
	if draft {
		w.Call, w.Path, w.Tool.Origin = &wireIdentity{id, made}, "native", "native"
		return
	}
	w.Tool.CallID, w.Tool.MCP = id, t.MCP
	if ev.Kind != event.ToolAfter {
		return
	}
	if t.Failed {
		w.Tool.Error = map[string]string{"message": failureText(ev)}
		return
	}
	if w.Tool.Output = t.Output; len(t.Output) == 0 {
		w.Tool.Output = json.RawMessage("null")
	}
}

func addDraftMembers(w *wireEvent, ev *event.Event) {
	no := false
	switch ev.Kind {
	case event.ToolAfter:
		w.Outcome, w.Execution = "ok", map[string]string{"status": "executed"}
		items := []wireContent{}
		if ev.Tool != nil && ev.Tool.Failed {
			w.Outcome, w.Error = "error", map[string]string{"class": "tool", "message": failureText(ev)}
		} else if ev.Tool != nil && !isNull(ev.Tool.Output) {
			items = textMessages(ev.ID+"-output", "tool", outputText(ev.Tool.Output))
		}
		w.Items = &items
	case event.PermissionRequest:
		w.Suggestions, w.SandboxBypass = &[]any{}, &no
	case event.TurnStart, event.TurnEnd:
		w.Turn = &wireIdentity{ID: ev.Turn}
		if ev.Turn == "" {
			w.Turn = &wireIdentity{ID: "none-" + ev.ID, Synthesized: true}
		}
		items := textMessages(ev.ID+"-prompt", "user", ev.Prompt)
		w.Trigger = "user"
		if ev.Kind == event.TurnEnd {
			items = textMessages(ev.ID+"-last", "assistant", ev.Message)
			kept := keptGoing(ev)
			w.Trigger, w.Outcome, w.Continuations = "", "completed", &kept
			if ev.Error != "" {
				w.Outcome = "error"
			}
		}
		w.Items = &items
	case event.SessionEnd:
		w.Outcome, w.Reason = "unknown", ev.Detail
		if w.Reason == "" {
			w.Reason = "unknown"
		}
	case event.UserAttention:
		kind := ev.Detail
		if kind == "" {
			kind = "attention"
		}
		w.Attention = map[string]any{"kind": kind, "title": []wirePart{textPart(ev.ID+"-title", ev.Title)},
			"message": []wirePart{textPart(ev.ID+"-message", ev.Message)}}
	}
}

// extension is what hookmux knows besides: what the call would really run and touch,
// the same way for every agent.
func extension(ev *event.Event) map[string]any {
	e := map[string]any{"agent": ev.Agent, "kind": ev.Kind, "nativeEvent": ev.Native}
	if ev.Mode != "" {
		e["permissionMode"] = ev.Mode
	}
	if ev.Malformed != "" {
		e["malformed"] = ev.Malformed
	}
	if ev.Truncated {
		e["truncated"] = true
	}
	if t := ev.Tool; t != nil {
		for name, list := range map[string][]string{"commands": t.Commands, "reads": t.Reads, "writes": t.Writes} {
			if len(list) > 0 {
				e[name] = list
			}
		}
		if t.URL != "" {
			e["url"] = t.URL
		}
		if t.MCP != nil {
			e["mcp"] = t.MCP
		}
	}
	return e
}

// kindWord is a kind of tool in the protocol's words, which are fewer.
func kindWord(k event.ToolKind) string {
	if k == event.Question || k == event.Plan || !k.Known() {
		return string(event.OtherTool)
	}
	return string(k)
}

// inputObject is a tool's input as an object, which the protocol wants it to be.
func inputObject(input json.RawMessage) json.RawMessage {
	switch {
	case jsontext.IsObject(input) && jsontext.Valid(input):
		return input
	case isNull(input) || !jsontext.Valid(input):
		return json.RawMessage("{}")
	}
	return json.RawMessage(append(append([]byte(`{"value":`), bytes.TrimSpace(input)...), '}'))
}

// synthesizedCall names a call that the agent has no name for: the same before and
// after it ran.
func synthesizedCall(ev *event.Event) string {
	sum := sha256.New()
	for _, part := range []string{ev.Session, ev.Turn, ev.Tool.Name} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	sum.Write(jsonx.Canonical(ev.Tool.Input))
	return "call-" + hex.EncodeToString(sum.Sum(nil)[:12])
}

func failureText(ev *event.Event) string {
	if ev.Error != "" {
		return ev.Error
	}
	return "the tool call failed"
}

func outputText(output json.RawMessage) string {
	if text, ok := jsontext.String(output); ok {
		return text
	}
	return string(output)
}

// SourceName is the URI of an installation: the same at every start, and it tells
// nothing about it.
func SourceName(host, folder string) string {
	sum := sha256.Sum256([]byte("hookmux source\x00" + host + "\x00" + folder))
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8: made up by its owner
	text := hex.EncodeToString(id)
	return "urn:uuid:" + text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
