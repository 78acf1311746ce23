package acp

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// The events that are reported to the daemon, as agent/data/acp.yaml describes them.
const (
	EventConnect       = "acp:connect" // reports to the daemon that runs which agent talks
	eventNew           = "acp:session/new"
	eventLoad          = "acp:session/load"
	eventPrompt        = "acp:session/prompt"
	eventPromptEnd     = "acp:session/prompt.end"
	eventCancel        = "acp:session/cancel"
	eventClose         = "acp:session/close"
	eventToolCall      = "acp:tool_call"
	eventToolDone      = "acp:tool_call_update"
	eventTitle         = "acp:session_info_update"
	eventPermission    = "acp:session/request_permission"
	eventPermissionEnd = "acp:session/request_permission.end"
	eventElicit        = "acp:elicitation/create"
	eventElicitEnd     = "acp:elicitation/create.end"
	// What the agent has the editor do: the editor does it without asking you.
	eventTerminal  = "acp:terminal/create"
	eventWriteFile = "acp:fs/write_text_file"
	eventReadFile  = "acp:fs/read_text_file"
)

// Report is one event for the daemon.
type Report struct {
	Event   string
	Payload []byte
}

// payload is the content of a report; agent/data/acp.yaml names the fields.
type payload struct {
	Session    string            `json:"session,omitempty"`
	Turn       string            `json:"turn,omitempty"`
	Cwd        string            `json:"cwd,omitempty"`
	Agent      string            `json:"agent,omitempty"`
	Editor     string            `json:"editor,omitempty"`
	Attended   bool              `json:"attended,omitempty"`
	Mode       string            `json:"mode,omitempty"`
	Model      string            `json:"model,omitempty"`
	Title      string            `json:"title,omitempty"`
	Prompt     string            `json:"prompt,omitempty"`
	Message    string            `json:"message,omitempty"`
	Detail     string            `json:"detail,omitempty"`
	Error      string            `json:"error,omitempty"`
	ToolName   string            `json:"toolName,omitempty"`
	ToolInput  json.RawMessage   `json:"toolInput,omitempty"`
	ToolOutput json.RawMessage   `json:"toolOutput,omitempty"`
	ToolCallID string            `json:"toolCallId,omitempty"`
	Failed     bool              `json:"failed,omitempty"`
	TitleOnly  bool              `json:"titleOnly,omitempty"`
	Request    string            `json:"request,omitempty"`
	Options    json.RawMessage   `json:"options,omitempty"`
	Offers     []json.RawMessage `json:"offers,omitempty"`
	Params     json.RawMessage   `json:"params,omitempty"`
}

// Permission is a request of the agent for leave to make a call, or one to the
// editor to do something at once.
type Permission struct {
	ID               json.RawMessage
	Key              string
	Session          string
	Call             string   // number of the tool call
	Unattended       bool     // no question: the editor would do it
	permittedActions []action // commands and paths that a yes is for
	Report           Report
}

// Step is the meaning of a message.
type Step struct {
	Reports    []Report
	Permission *Permission // of the agent
	Cancelled  string      // the session whose turn the editor stops
	Answers    string      // the agent's request that the editor answers
	Withdrawn  string      // the request that the agent takes back
}

// Naming finds out which agent talks, by what it calls itself; the entry is nil for one that
// the catalogue doesn't know.
type Naming func(selfName string) (name string, entry *agent.Agent)

// Conversation follows what an editor and an agent say to each other. It may be
// used from two goroutines, one for each side.
type Conversation struct {
	Naming Naming

	mu       sync.Mutex
	agent    string
	entry    *agent.Agent
	self     string // what it calls itself, with its version
	editor   string
	asked    map[string]question // requests of the editor that are not answered
	forms    map[string]string   // sessions, by the form of the agent that the editor shows
	sessions map[string]*session
}

// question is a request of the editor that is followed.
type question struct{ method, session, cwd string }

type session struct {
	cwd, mode, model string
	turns            int
	words            string // the agent's final message
	wordsOf          string // the message they are in
	calls            map[string]*toolCall
	allowed          map[action]bool // commands and paths that were said yes to
}

// Limits of what is kept of a conversation.
const (
	maxAsked = 4096
	maxCalls = 1024
	maxWords = 8 << 10
	// maxParams is the size up to which a request is kept whole, in addition to what was
	// read of it.
	maxParams = 1 << 20
)

// AgentName is hookmux's name of the agent.
func (c *Conversation) AgentName() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resolveName()
	return c.agent
}

// resolveName names an agent that hasn't said yet what it calls itself.
func (c *Conversation) resolveName() {
	if c.agent == "" {
		c.agent, c.entry = c.Naming("")
	}
}

// Connect is called before the agent is started.
func (c *Conversation) Connect(cwd string) Report {
	return Report{EventConnect, asJSON(payload{Cwd: cwd})}
}

// Close ends every session: the agent is gone.
func (c *Conversation) Close() []Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Report
	for id := range c.sessions {
		list = append(list, c.report(eventClose, id, payload{Detail: "agent ended"}))
	}
	clear(c.sessions)
	return list
}

// FromEditor applies a message of the editor.
func (c *Conversation) FromEditor(m *Message) Step {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.IsResponse() {
		var r struct {
			Action string `json:"action"`
		}
		_ = json.Unmarshal(m.Result, &r) // an answer of another shape is none
		return Step{Answers: m.Key(), Reports: c.formEnded(m.Key(), cmp.Or(r.Action, "cancel"))}
	}
	var p struct {
		SessionID  string          `json:"sessionId"`
		Cwd        string          `json:"cwd"`
		Prompt     json.RawMessage `json:"prompt"`
		ClientInfo struct{ Name, Title, Version string }
	}
	if len(m.Params) > 0 && json.Unmarshal(m.Params, &p) != nil {
		return Step{}
	}
	if m.IsRequest() {
		c.noteQuestion(m.Key(), question{m.Method, p.SessionID, p.Cwd})
	}
	switch m.Method {
	case "initialize":
		c.editor = strings.TrimSpace(cmp.Or(p.ClientInfo.Title, p.ClientInfo.Name) + " " + p.ClientInfo.Version)
	case "session/prompt":
		s := c.session(p.SessionID)
		s.turns++
		s.words, s.wordsOf = "", ""
		clear(s.calls)
		clear(s.allowed)
		return Step{Reports: []Report{c.report(eventPrompt, p.SessionID, payload{Prompt: promptText(p.Prompt)})}}
	case "session/cancel":
		return Step{Cancelled: p.SessionID, Reports: []Report{c.report(eventCancel, p.SessionID, payload{})}}
	}
	return Step{}
}

func (c *Conversation) noteQuestion(key string, q question) {
	switch q.method {
	case "initialize", "session/new", "session/load", "session/resume", "session/fork", "session/prompt",
		"session/close", "session/delete", "session/set_mode":
	default:
		return
	}
	if c.asked == nil || len(c.asked) >= maxAsked {
		c.asked = map[string]question{}
	}
	c.asked[key] = q
}

// FromAgent applies a message of the agent.
func (c *Conversation) FromAgent(m *Message) Step {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resolveName()
	switch {
	case m.IsResponse():
		return Step{Reports: c.answered(m)}
	case m.Method == "session/update":
		return Step{Reports: c.updated(m.Params)}
	case m.Method == "session/request_permission" && m.IsRequest():
		return c.permissionAsked(m)
	case m.Method == "elicitation/create" && m.IsRequest():
		return Step{Reports: c.formShown(m)}
	case m.IsRequest() && unattended[m.Method] != "":
		return c.askedToAct(m)
	case m.Method == "$/cancel_request":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.Params, &p) // what cannot be read takes nothing back
		key := (&Message{ID: p.RequestID}).Key()
		return Step{Withdrawn: key, Reports: c.formEnded(key, "cancel")}
	}
	return Step{}
}

// formShown reads a question that the agent wants the editor to ask the user: a form, or an
// address to open. One that belongs to no session, such as a login, isn't reported.
func (c *Conversation) formShown(m *Message) []Report {
	var p struct {
		SessionID  string `json:"sessionId"`
		ToolCallID string `json:"toolCallId"`
		Message    string `json:"message"`
		URL        string `json:"url"`
	}
	readLoosely(m.Params, &p)
	if p.SessionID == "" {
		return nil
	}
	if c.forms == nil || len(c.forms) >= maxAsked {
		c.forms = map[string]string{}
	}
	c.forms[m.Key()] = p.SessionID
	return []Report{c.report(eventElicit, p.SessionID, payload{Request: m.Key(), ToolCallID: p.ToolCallID,
		Message: strings.TrimSpace(p.Message + " " + p.URL)})}
}

// formEnded reports what became of it: accept, decline or cancel.
func (c *Conversation) formEnded(key, action string) []Report {
	id, shown := c.forms[key]
	if !shown {
		return nil
	}
	delete(c.forms, key)
	return []Report{c.report(eventElicitEnd, id, payload{Request: key, Detail: action})}
}

// answered reads an answer of the agent to a request of the editor.
func (c *Conversation) answered(m *Message) []Report {
	q, ok := c.asked[m.Key()]
	if !ok {
		return nil
	}
	delete(c.asked, m.Key())
	var r struct {
		SessionID  string `json:"sessionId"`
		StopReason string `json:"stopReason"`
		AgentInfo  struct{ Name, Title, Version string }
		Modes      struct {
			CurrentModeID string `json:"currentModeId"`
		} `json:"modes"`
		Models struct {
			CurrentModelID string `json:"currentModelId"`
		} `json:"models"`
	}
	_ = json.Unmarshal(m.Result, &r) // an answer of another shape says nothing
	switch q.method {
	case "initialize":
		c.self = strings.TrimSpace(r.AgentInfo.Name + " " + r.AgentInfo.Version)
		c.agent, c.entry = c.Naming(r.AgentInfo.Name)
	case "session/new", "session/load", "session/resume", "session/fork":
		id := cmp.Or(r.SessionID, q.session)
		if m.Error != nil || id == "" {
			return nil
		}
		s := c.session(id)
		s.cwd, s.mode, s.model = q.cwd, r.Modes.CurrentModeID, r.Models.CurrentModelID
		if q.method == "session/new" || q.method == "session/fork" {
			return []Report{c.report(eventNew, id, payload{})}
		}
		return []Report{c.report(eventLoad, id, payload{})}
	case "session/prompt":
		return []Report{c.promptEnded(q.session, r.StopReason, m.Error)}
	case "session/close", "session/delete":
		if m.Error == nil && c.sessions[q.session] != nil {
			end := c.report(eventClose, q.session, payload{Detail: "closed"})
			delete(c.sessions, q.session)
			return []Report{end}
		}
	}
	return nil
}

// promptEnded reports that a turn is over.
func (c *Conversation) promptEnded(id, stop string, failure *RPCError) Report {
	s := c.session(id)
	p := payload{Message: s.words, Detail: stop}
	if failure != nil {
		p.Detail, p.Error = "failed", cmp.Or(failure.Message, "error "+strconv.Itoa(failure.Code))
	}
	return c.report(eventPromptEnd, id, p)
}

// updated reads a notification in which the agent reports what it does.
func (c *Conversation) updated(params json.RawMessage) []Report {
	var p struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	var u struct {
		Kind      string `json:"sessionUpdate"`
		MessageID string `json:"messageId"`
		Content   struct {
			Text string `json:"text"`
		} `json:"content"`
		Title         string `json:"title"`
		CurrentModeID string `json:"currentModeId"`
	}
	if json.Unmarshal(params, &p) != nil || p.SessionID == "" {
		return nil
	}
	s := c.session(p.SessionID)
	_ = json.Unmarshal(p.Update, &u) // a tool call's content is a list: the rest is read all the same
	switch u.Kind {
	case "agent_message_chunk":
		if u.MessageID != s.wordsOf {
			s.words, s.wordsOf = "", u.MessageID
		}
		if len(s.words) < maxWords {
			s.words = termsafe.CutMarked(s.words+u.Content.Text, maxWords)
		}
	case "tool_call", "tool_call_update":
		var t toolCall
		if !readLoosely(p.Update, &t) || t.ID == "" {
			return nil
		}
		s.words = ""
		return c.toolChanged(p.SessionID, s.noteCall(&t))
	case "session_info_update":
		if u.Title != "" {
			return []Report{c.report(eventTitle, p.SessionID, payload{Title: u.Title})}
		}
	case "current_mode_update":
		s.mode = u.CurrentModeID
	}
	return nil
}

// noteCall keeps what is reported of a tool call.
func (s *session) noteCall(told *toolCall) *toolCall {
	if known := s.calls[told.ID]; known != nil {
		known.merge(told)
		return known
	}
	if s.calls == nil || len(s.calls) >= maxCalls {
		s.calls = map[string]*toolCall{}
	}
	kept := *told
	s.calls[told.ID] = &kept
	return &kept
}

// toolChanged reports once that a call begins, as soon as its input is known, and once that
// it is over.
func (c *Conversation) toolChanged(id string, t *toolCall) (list []Report) {
	if t.Kind == "think" {
		return nil // nothing is done
	}
	over := t.Status == "completed" || t.Status == "failed"
	if !t.begun && (over || t.Status == "in_progress" || !isBlank(t.RawInput)) {
		t.begun = true
		list = append(list, c.report(eventToolCall, id, c.toolPayload(t)))
	}
	if over {
		p := c.toolPayload(t)
		p.Failed, p.ToolOutput = t.Status == "failed", t.output()
		list = append(list, c.report(eventToolDone, id, p))
		delete(c.session(id).calls, t.ID)
	}
	return list
}

// toolPayload returns a tool call as it is reported.
func (c *Conversation) toolPayload(t *toolCall) payload {
	p := payload{ToolCallID: t.ID, ToolName: cmp.Or(t.Kind, "other")}
	own := t.ownName()
	if own != "" && (t.Kind == "" || t.Kind == "other" || c.entry != nil && c.entry.Tool(own).Name == own) {
		p.ToolName = own // the agent's entry, or a hook, knows it
	}
	p.ToolInput, p.TitleOnly = t.input(c.entry != nil && c.entry.ACP != nil && c.entry.ACP.TitleIsCommand)
	return p
}

// permissionAsked reads the agent's request for permission.
func (c *Conversation) permissionAsked(m *Message) Step {
	var p struct {
		SessionID string            `json:"sessionId"`
		ToolCall  toolCall          `json:"toolCall"`
		Options   []json.RawMessage `json:"options"`
	}
	readLoosely(m.Params, &p) // guards see what can be read of it
	s := c.session(p.SessionID)
	call := s.noteCall(&p.ToolCall)
	var step Step
	if !call.begun && call.Kind != "think" {
		call.begun = true
		step.Reports = append(step.Reports, c.report(eventToolCall, p.SessionID, c.toolPayload(call)))
	}
	said := c.toolPayload(call)
	said.Request, said.Options = m.Key(), asJSON(p.Options)
	if len(m.Params) <= maxParams {
		said.Params = m.Params
	}
	for _, option := range p.Options {
		var o struct {
			Kind string `json:"kind"`
		}
		if json.Unmarshal(option, &o) == nil && o.Kind == "allow_always" {
			said.Offers = append(said.Offers, option)
		}
	}
	step.Permission = &Permission{ID: m.ID, Key: m.Key(), Session: p.SessionID, Call: call.ID,
		permittedActions: call.permittedActions(said.ToolInput), Report: c.report(eventPermission, p.SessionID, said)}
	return step
}

// PermissionGiven notes a yes, so that what it is for is not asked about again.
func (c *Conversation) PermissionGiven(p *Permission) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.session(p.Session)
	if s.allowed == nil || len(s.allowed) >= maxCalls {
		s.allowed = map[action]bool{}
	}
	for _, what := range p.permittedActions {
		s.allowed[what] = true
	}
}

// PermissionEnded reports how the editor answered a request.
func (c *Conversation) PermissionEnded(p *Permission, answer *Message) Report {
	var r struct {
		Outcome struct {
			Outcome string `json:"outcome"`
		} `json:"outcome"`
	}
	_ = json.Unmarshal(answer.Result, &r) // an answer of another shape is no yes
	detail := "cancelled"
	if r.Outcome.Outcome == "selected" {
		detail = "rejected"
		if p.isYes(answer.Result) {
			detail = "allowed"
			c.PermissionGiven(p)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.report(eventPermissionEnd, p.Session, payload{Request: p.Key, Detail: detail, ToolCallID: p.Call})
}

// report returns an event of a session.
func (c *Conversation) report(name, id string, p payload) Report {
	s := c.session(id)
	p.Session, p.Cwd, p.Mode, p.Model, p.Attended = id, s.cwd, s.mode, s.model, true
	p.Agent, p.Editor = c.self, c.editor
	if s.turns > 0 {
		p.Turn = strconv.Itoa(s.turns)
	}
	return Report{name, asJSON(p)}
}

func (c *Conversation) session(id string) *session {
	s := c.sessions[id]
	if s == nil {
		s = &session{calls: map[string]*toolCall{}}
		if c.sessions == nil {
			c.sessions = map[string]*session{}
		}
		c.sessions[id] = s
	}
	return s
}

// promptText returns what the user wrote.
func promptText(blocks json.RawMessage) string {
	var list []struct {
		Type string `json:"type"`
		Text string `json:"text"`
		URI  string `json:"uri"`
	}
	if json.Unmarshal(blocks, &list) != nil {
		return ""
	}
	var parts []string
	for _, b := range list {
		if text := cmp.Or(b.Text, b.URI); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}
