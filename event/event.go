// Package event defines the vocabulary of hookmux: what an agent reported
// ([Event]), what shall come of it ([Decision]), how several opinions become
// one ([Decision.Merge]) and what is left of one where an agent cannot carry it
// ([Degrade]). It knows no agent and does nothing on its own; standard library
// only.
package event

import (
	"encoding/json"
	"path"
	"strings"
	"time"
)

// Event is one report of one agent, in the same form for every agent.
//
// Raw holds the bytes exactly as they came and is never changed; everything
// else was read out of them. A field the agent didn't send is empty.
type Event struct {
	ID   string    // made by the hook client; unique everywhere
	Time time.Time // when the daemon took it in

	Agent        string // the agent's name in the catalogue
	AgentVersion string
	Native       string // the agent's own name of the event
	Kind         Kind

	Session    string // the agent's session id
	Turn       string // turn or prompt id
	Cwd        string
	Mode       string // permission mode, in the agent's word
	Model      string
	Title      string
	Transcript string   // path of the agent's own record of the session
	Attended   Attended // does a person sit at it?
	Reviewer   Reviewer // of a permission request: who decides about it in the agent

	Subagent *Subagent // set when a subagent reports, or is reported about
	Tool     *Tool

	// What the event asks you, read from the payload: questions with their
	// options, a plan, and the permanent permissions that the agent itself
	// offers, spelt as the agent spells them. They aren't stored; the payload is.
	Questions   []Inquiry
	Plan        string
	Suggestions []json.RawMessage

	Prompt  string // what was asked of the agent
	Message string // the agent's final message, or a notification's text
	Detail  string // the agent's word for why: source, reason, trigger, notification type
	Error   string // what failed

	// GoingOn says that an earlier hook already kept this turn going, so that
	// a hook which always says "go on" can stop itself.
	GoingOn bool
	// Background counts tasks that will wake the agent again after this end.
	Background int
	// Interrupted says that you stopped what the event reports the end of. It
	// isn't stored; the payload is.
	Interrupted bool

	Where Place

	// Projects are the folders whose hooks count for this event, nearest
	// first. They are known to the daemon, not stored.
	Projects []string

	Truncated bool   // the payload was cut by the agent or was too large to carry
	Malformed string // why the payload could not be read, in whole or in what it would run
	Nested    bool   // it came from below a running handler

	Raw []byte
}

// Attended says whether someone is sitting at the agent.
type Attended string

// What is known about who attends.
const (
	AttendedUnknown Attended = ""
	AttendedYes     Attended = "yes"
	AttendedNo      Attended = "no" // headless
)

// Reviewer says who decides about an agent's permission requests when no hook
// does.
type Reviewer string

// Who decides. If an agent doesn't say, you do.
const (
	ReviewerUnknown Reviewer = ""
	ReviewerUser    Reviewer = "person"
	ReviewerAgent   Reviewer = "agent" // a reviewer inside the agent; it never hands over to a person
)

// ReviewedByAgent reports whether this is a permission request that no person
// sees: the agent's own reviewer decides about it.
func (e *Event) ReviewedByAgent() bool {
	return e.Kind == PermissionRequest && e.Reviewer == ReviewerAgent
}

// Subagent names a helper an agent started.
type Subagent struct {
	ID     string `json:"id,omitempty"`
	Type   string `json:"type,omitempty"`
	Parent string `json:"parent,omitempty"` // session or agent id it works for
}

// Place is where the agent runs, as far as its process shows.
type Place struct {
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"` // start tick: with PID it names one process for ever
	TTY   string `json:"tty,omitempty"`
	Pane  string `json:"pane,omitempty"` // what the terminal multiplexer calls the spot: %3
	Host  string `json:"host,omitempty"`
	// Mux names the owner of that pane (tmux, zellij, kitty, wezterm, iterm2), Server which
	// one of it: tmux's or wezterm's socket, zellij's session, kitty's address. MuxPID is that server's process.
	Mux    string `json:"mux,omitempty"`
	Server string `json:"server,omitempty"`
	MuxPID int    `json:"muxPid,omitempty"`
	// Holder is the first process of the terminal, where the agent's own is not
	// known or serves several terminals: it lives as long as the terminal is open.
	Holder      int    `json:"holder,omitempty"`
	HolderStart uint64 `json:"holderStart,omitempty"`
	// Shared says that the process serves several terminals, and which one this is
	// can't be known.
	Shared bool `json:"shared,omitempty"`
}

// Tool is one tool call: what is about to run, asks for leave, or ran.
type Tool struct {
	Name   string // the agent's own name
	Kind   ToolKind
	CallID string

	Commands []string // what a shell would run; some tools take several
	Reads    []string // paths read
	Writes   []string // paths written, edited, deleted
	URL      string
	Folder   string // where it runs, when the call itself says so, as it names it
	MCP      *MCPCall

	Input    json.RawMessage // as the agent sent it
	Changed  json.RawMessage // as handlers changed it so far; nil when nobody did
	Output   json.RawMessage // after the call
	Failed   bool
	Duration time.Duration
}

// MCPCall says which server's tool is meant.
type MCPCall struct {
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
}

// CurrentInput returns the input as a handler changed it, or as sent.
func (t *Tool) CurrentInput() json.RawMessage {
	if t.Changed != nil {
		return t.Changed
	}
	return t.Input
}

// Paths returns all paths the call names, written ones first.
func (t *Tool) Paths() []string {
	if len(t.Reads) == 0 {
		return t.Writes
	}
	if len(t.Writes) == 0 {
		return t.Reads
	}
	return append(append(make([]string, 0, len(t.Writes)+len(t.Reads)), t.Writes...), t.Reads...)
}

// Folder returns where the call happens: the folder that it names, or the one the agent
// works in.
func (e *Event) Folder() string {
	if e.Tool == nil || e.Tool.Folder == "" {
		return e.Cwd
	}
	named := e.Tool.Folder
	if path.IsAbs(named) || strings.HasPrefix(named, "~") || strings.HasPrefix(named, "$") || e.Cwd == "" {
		return named
	}
	return path.Join(e.Cwd, named)
}

// Unreadable says why it can't be known what a guarded call would do. It returns ""
// if it can, and for other events. A guard must treat such a call as one it blocks.
func (e *Event) Unreadable() string {
	if !e.Kind.Guarded() {
		return ""
	}
	if e.Malformed == "" && e.Truncated && (e.Tool == nil || len(e.Tool.Input) == 0) {
		return "the payload was too large and is cut"
	}
	return e.Malformed
}
