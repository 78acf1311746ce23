package wire

import (
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
)

// The methods about sessions. Every process of the same user may read; only the user may rename,
// forget and send.
const (
	MethodSessions      = "sessions.list"
	MethodSession       = "sessions.get"
	MethodSessionRename = "sessions.rename"
	MethodSessionForget = "sessions.forget"
	MethodSessionResume = "sessions.resume"
	MethodSessionSend   = "sessions.send"
)

// The methods for an agent about its own project. The daemon finds out which one that is from the
// calling process; a caller that isn't an agent's is rejected.
const (
	MethodProjectSessions = "project.sessions"
	MethodProjectHistory  = "project.history"
	MethodProjectBudgets  = "project.budgets"
)

// NoteSession is sent to a stream when a session changed, if it asked for
// sessions.
const NoteSession = "session.changed"

// Which notifications a stream wants about sessions.
const (
	SessionsAlso = "also" // in addition to events
	SessionsOnly = "only"
)

// What a session does: the values of [Session.Status], which `hookmux ps --json` and tmux's
// options show too.
const (
	StatusWaiting = "waiting" // for you
	StatusRunning = "running"
	StatusDone    = "done"
	StatusFailed  = "failed"
	StatusIdle    = "idle"
	StatusUnknown = "unknown" // it may run or not; there is no way to know
)

// How a turn went: the values of [Turn.Result]. A turn that is still running has none.
const (
	ResultOK          = "ok"
	ResultToolErrors  = "toolErrors"  // the last tool call failed
	ResultAPIError    = "apiError"    // the model could not be asked
	ResultInterrupted = "interrupted" // the user stopped it, or it was cut off
)

// Session describes one session, as commands show it. The agent's texts have their secrets
// removed; escaping them is up to the program that shows them.
type Session struct {
	ID string `json:"id"` // HOST/ID for one on another machine
	// Host is the machine it runs on; "" for this one. Its place and process are that machine's.
	Host string `json:"host,omitempty"`
	// HostLost is since when that machine can't be reached; what is known of it is as old.
	HostLost *time.Time `json:"hostLost,omitempty"`
	// HostReadOnly says that nothing there can be answered from here.
	HostReadOnly bool `json:"hostReadOnly,omitempty"`

	Agent  string    `json:"agent"`
	Status string    `json:"status"`
	Since  time.Time `json:"since"` // of the status
	Title  string    `json:"title"`
	Named  bool      `json:"named,omitempty"` // the user gave the title
	Tool   string    `json:"tool,omitempty"`  // what it does now
	Cwd    string    `json:"cwd"`

	Pane string `json:"pane"`          // %3; "" if it is in none, "unknown" if that can't be known
	Mux  string `json:"mux,omitempty"` // whose pane that is: tmux, zellij, kitty, wezterm, iterm2
	// Server is the socket of that tmux or wezterm, the session of zellij, the address of kitty.
	Server string `json:"server,omitempty"`
	TTY    string `json:"tty,omitempty"`
	PID    int    `json:"pid,omitempty"`

	StartedAt    time.Time  `json:"startedAt"`
	LastEvent    time.Time  `json:"lastEvent"`
	WaitingSince *time.Time `json:"waitingSince,omitempty"`
	Asks         []string   `json:"asks,omitempty"`  // what the user must decide
	Waits        []string   `json:"waits,omitempty"` // its ids in the inbox, in the same order
	Ended        *time.Time `json:"ended,omitempty"`
	EndReason    string     `json:"endReason,omitempty"`
	// Unasked says that it runs calls without asking: "bypass", no one decides; "auto", a model does.
	Unasked string `json:"unasked,omitempty"`
	// CutOff says that it ended unintentionally in the middle of a turn: it is shown as failed until
	// it is forgotten.
	CutOff bool `json:"cutOff,omitempty"`

	Turn  *Turn `json:"turn"` // the one that goes on, or the last
	Turns int   `json:"turns"`
	// LastWords holds the agent's final message of an earlier turn, while this one
	// is running.
	LastWords string `json:"lastWords,omitempty"`
	Subagents int    `json:"subagents,omitempty"` // at work now

	Mode       string `json:"mode,omitempty"`
	Model      string `json:"model,omitempty"`
	Version    string `json:"version,omitempty"`
	Transcript string `json:"transcript,omitempty"`
	// Reviewer decides about the agent's permission requests when no hook
	// does: person, agent (the agent's own reviewer), or empty if unknown.
	Reviewer  event.Reviewer `json:"reviewer,omitempty"`
	Resumable bool           `json:"resumable,omitempty"`
	// Usage is how much it used; nil if nothing is known.
	Usage *SessionUsage `json:"usage,omitempty"`
}

// Turn is one round, from a prompt to the agent's last word.
type Turn struct {
	ID       string     `json:"id,omitempty"`
	N        int        `json:"n"`
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended,omitempty"`
	Seconds  float64    `json:"seconds"`
	Result   string     `json:"result,omitempty"`
	ExitCode int        `json:"exitCode"`
	Summary  string     `json:"summary,omitempty"`
	Tools    int        `json:"tools,omitempty"`
	Errors   int        `json:"errors,omitempty"`
	// Calls that failed and calls that were denied; a turn with some of them may well have succeeded.
	CallsFailed int    `json:"callsFailed"`
	CallsDenied int    `json:"callsDenied"`
	Error       string `json:"error,omitempty"`
}

// SessionDetail is everything about one session.
type SessionDetail struct {
	Session
	Earlier []Turn            `json:"earlier,omitempty"` // oldest first
	Files   []string          `json:"files,omitempty"`   // written, latest last
	Errors  []SessionError    `json:"errors,omitempty"`  // latest last
	Helpers []SessionSubagent `json:"helpers,omitempty"`
	Resume  *ResumeRecord     `json:"resume,omitempty"`
	// NoResume says why it can't be resumed.
	NoResume string `json:"noResume,omitempty"`
}

// SessionError is a tool call that failed.
type SessionError struct {
	Time time.Time `json:"time"`
	Turn int       `json:"turn,omitempty"`
	Tool string    `json:"tool,omitempty"`
	Text string    `json:"text,omitempty"`
	Exit int       `json:"exit,omitempty"`
}

// SessionSubagent is a helper of a session.
type SessionSubagent struct {
	ID      string     `json:"id,omitempty"`
	Type    string     `json:"type,omitempty"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended,omitempty"`
	Tools   int        `json:"tools,omitempty"`
	Errors  int        `json:"errors,omitempty"`
	Summary string     `json:"summary,omitempty"`
}

// ResumeRecord describes how a session is resumed: a list of words, not a line for a shell.
type ResumeRecord struct {
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Title   string    `json:"title,omitempty"`
	Argv    []string  `json:"argv"`
	Run     bool      `json:"run,omitempty"` // through `hookmux run`, for its hooks
	Dir     string    `json:"dir"`
	Env     []string  `json:"env,omitempty"`
	Pane    string    `json:"pane,omitempty"`
	Server  string    `json:"server,omitempty"`
	At      time.Time `json:"at"`
	// Moved says that the tmux server it was in is gone, and its pane with it.
	Moved bool `json:"moved,omitempty"`
	// Served says that a daemon of the agent served it and may still run it.
	Served bool `json:"served,omitempty"`
	// Live says why it must not be resumed now: it is still running, or was resumed a moment ago.
	Live string `json:"live,omitempty"`
}

// SessionChange is the parameter of session.changed.
type SessionChange struct {
	Session Session  `json:"session"`
	What    []string `json:"what,omitempty"` // what became different: status, title, tool, turn, place, …
	Gone    bool     `json:"gone,omitempty"` // it left the list
}

// SessionsParams asks for sessions.
type SessionsParams struct {
	All    bool     `json:"all,omitempty"` // also those that left the list
	Agents []string `json:"agents,omitempty"`
}

// SessionParams names a session: its id, the beginning of it, its title, or
// its pane.
type SessionParams struct {
	Session string `json:"session"`
}

// SessionRenameParams gives a session a new name; Auto lets the agent name it again.
type SessionRenameParams struct {
	Session string `json:"session"`
	Title   string `json:"title,omitempty"`
	Auto    bool   `json:"auto,omitempty"`
}

// SessionResumeParams asks for records; an empty Session means all of them. Claim marks them as
// resumed, so that no one else resumes them too.
type SessionResumeParams struct {
	Session string `json:"session,omitempty"`
	Claim   bool   `json:"claim,omitempty"`
}

// SessionSendParams sends a text to a session.
type SessionSendParams struct {
	Session string `json:"session"`
	Text    string `json:"text"`
	Type    bool   `json:"type,omitempty"` // type it into its pane, if no plugin takes it
	PIN     string `json:"pin,omitempty"`  // of the machine it runs on, if that's another one
}

// SessionSent says where a text went.
type SessionSent struct {
	Session Session `json:"session"`
	Via     string  `json:"via"` // plugin, or pane
}

// ProbeEvent is the event with which a hook command is tried out after it was
// installed. It comes from no agent and belongs to no session.
const ProbeEvent = "hookmux.probe"

// WindowName describes where the agent's own prompt is: its pane, its terminal, or what can be
// said if neither is known.
func (s *Session) WindowName() string {
	switch {
	case s.Mux != "" && s.Mux != "tmux" && s.Pane != "":
		return s.Mux + " " + s.Pane
	case s.Pane != "" && s.Pane != "unknown":
		return s.Pane
	case s.TTY != "" && s.TTY != "unknown":
		return strings.TrimPrefix(s.TTY, "/dev/")
	}
	return "its own terminal"
}

// NextWaiting returns the sessions that wait for you, the longest waiting first. The list is in
// the daemon's order.
func NextWaiting(list []Session) []*Session {
	var waiting []*Session
	for i := range list {
		if one := &list[i]; one.WaitingSince != nil && one.Ended == nil {
			waiting = append(waiting, one)
		}
	}
	return waiting
}
