// Package state holds what hookmux knows about every agent's session: what it does now,
// whether it waits for you, how its turns went, what it's called.
//
// It is pure: events and other news go in, state comes out. It does no I/O, reads no clock
// (every time is a parameter) and knows no agent by name: an agent's peculiarities come in
// as [Rules], from the catalogue. It is hookmux's only status machine.
//
// A [Sessions] holds the sessions. Each news item makes a new [Session] value that replaces
// the old one and says in a [Change] what became different, so that readers keep what they
// got without locks, and notifications, streams and storage needn't compare anything.
package state

import (
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

// Key names a session: the agent and the id the agent gave it.
type Key struct {
	Agent string `json:"agent"`
	ID    string `json:"id"`
}

// String returns the key as it's shown.
func (k Key) String() string { return k.Agent + ":" + k.ID }

// Status says what a session does.
type Status string

// The statuses.
const (
	NeverRan      Status = "neverRan" // clients see it as idle
	Running       Status = wire.StatusRunning
	Idle          Status = wire.StatusIdle
	WaitingForYou Status = wire.StatusWaiting
	Success       Status = wire.StatusDone
	Failed        Status = wire.StatusFailed
	Unsure        Status = wire.StatusUnknown
)

// Statuses lists every status.
func Statuses() []Status {
	return []Status{NeverRan, Running, Idle, WaitingForYou, Success, Failed, Unsure}
}

// Rank orders statuses by how much they need your attention, most first: one mark for many
// sessions shows the highest.
func (s Status) Rank() int {
	switch s {
	case WaitingForYou:
		return 6
	case Running:
		return 5
	case Failed:
		return 4
	case Unsure:
		return 3
	case Success:
		return 2
	case Idle:
		return 1
	}
	return 0
}

// Finished reports whether a turn's result is shown.
func (s Status) Finished() bool { return s == Success || s == Failed }

// Result is how a turn went.
type Result string

// The results.
const (
	OK          Result = wire.ResultOK
	ToolErrors  Result = wire.ResultToolErrors
	APIError    Result = wire.ResultAPIError
	Interrupted Result = wire.ResultInterrupted
)

// Bounds of what a session keeps.
const (
	MaxTurns       = 20
	MaxFiles       = 100
	MaxErrors      = 20
	MaxSubagents   = 32
	maxCalls       = 64
	maxAsks        = 16
	maxFinished    = 64
	maxClosedTurns = 32
)

// Session is the current state of one session. Values handed out are never changed; treat
// them as read-only. It goes to JSON and back without loss.
type Session struct {
	Key
	Status    Status    `json:"status"`
	Since     time.Time `json:"since"`     // of the status
	StartedAt time.Time `json:"startedAt"` // when it was first heard of
	LastEvent time.Time `json:"lastEvent"`

	Title Title  `json:"title"`
	Tool  string `json:"tool,omitempty"` // what it does now: "Edit models/foo.go"

	Cwd        string         `json:"cwd,omitempty"`
	Place      event.Place    `json:"place"`
	Mode       string         `json:"mode,omitempty"`
	Model      string         `json:"model,omitempty"`
	Version    string         `json:"version,omitempty"` // the agent's
	Transcript string         `json:"transcript,omitempty"`
	Attended   event.Attended `json:"attended,omitempty"`
	// Reviewer decides about the agent's permission requests.
	Reviewer event.Reviewer `json:"reviewer,omitempty"`

	Turn      *Turn  `json:"turn,omitempty"` // the one that goes on, or the last
	TurnCount int    `json:"turnCount,omitempty"`
	Turns     []Turn `json:"turns,omitempty"` // earlier ones, oldest first, the last [MaxTurns]

	Files     []string     `json:"files,omitempty"`  // written, latest last
	Errors    []Failure    `json:"errors,omitempty"` // latest last
	Subagents SubagentList `json:"subagents,omitempty"`

	Questions

	Background int       `json:"background,omitempty"` // tasks that will wake the agent again
	ReadAt     time.Time `json:"readAt,omitzero"`      // when a person saw the result

	Ended     time.Time `json:"ended,omitzero"` // zero while it lives
	EndReason string    `json:"endReason,omitempty"`
	// CutOff says that it ended in the middle of a turn, surely unintended: it stays on the
	// list until the user removes it.
	CutOff bool `json:"cutOff,omitempty"`

	// Unprompted says that the agent was only seen to be open: it has reported nothing.
	Unprompted bool `json:"unprompted,omitempty"`

	Terminal string `json:"terminal,omitempty"` // mux0's terminal id
	AgentID  string `json:"agentId,omitempty"`  // the agent's own id of what runs in a terminal, where a line told it

	// Machine is the machine's own memory.
	Machine MachineState `json:"beneath"`
}

// MachineState is what the machine remembers for later events; don't read anything else
// into it.
type MachineState struct {
	Base          Status         `json:"base,omitempty"`        // the status without what is asked
	BaseSince     time.Time      `json:"baseSince,omitzero"`    // of Base
	Calls         []Call         `json:"calls,omitempty"`       // tool calls that began and have not ended
	Finished      []FinishedCall `json:"done,omitempty"`        // calls of this turn that ended
	Denied        []Call         `json:"denied,omitempty"`      // calls of this turn that were refused
	ClosedTurns   []string       `json:"tombs,omitempty"`       // ids of turns that are over
	NestedTurns   int            `json:"depth,omitempty"`       // turns inside the turn
	ModelError    string         `json:"fault,omitempty"`       // the model could not be asked, says the agent
	MaybeFinished bool           `json:"spoke,omitempty"`       // it may have said the turn's last word
	WavedAway     bool           `json:"waved,omitempty"`       // a person left its question without an answer
	Activity      string         `json:"said,omitempty"`        // what the agent says it does, beside tools
	TitleAt       time.Time      `json:"titleAt,omitzero"`      // of the last title that came with a time
	TurnProcess   int            `json:"turnProcess,omitempty"` // process that began the turn
	TurnStart     uint64         `json:"turnStart,omitempty"`
	Seq           uint64         `json:"seq,omitempty"` // the highest number heard from a numbering sender
	AskCount      int            `json:"askCount,omitempty"`
}

// Turn is one round: from a prompt to the agent's last word.
type Turn struct {
	ID       string    `json:"id,omitempty"`
	N        int       `json:"n"` // counted from 1
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Result   Result    `json:"result,omitempty"`
	ExitCode int       `json:"exitCode"` // 0, or 1 when it did not go well
	Summary  string    `json:"summary,omitempty"`
	Tools    int       `json:"tools,omitempty"`  // calls that began
	Errors   int       `json:"errors,omitempty"` // calls that failed
	Denied   int       `json:"denied,omitempty"` // calls that a hook, a guard or a person refused
	Error    string    `json:"error,omitempty"`  // why the model could not be asked
	Implicit bool      `json:"implicit,omitempty"`
	Seq      uint64    `json:"seq,omitempty"`

	// How the call that began last went decides how the turn went.
	LastCall       string `json:"lastCall,omitempty"` // its id; of an agent that reports no beginnings, none
	LastCallFailed bool   `json:"lastCallFailed,omitempty"`
}

// Open reports whether the turn goes on.
func (t *Turn) Open() bool { return t != nil && t.Ended.IsZero() }

// Duration returns how long the turn took; of one that goes on, how long so far.
func (t *Turn) Duration(now time.Time) time.Duration {
	if t == nil {
		return 0
	}
	end := t.Ended
	if end.IsZero() {
		end = now
	}
	return max(0, end.Sub(t.Started))
}

// Failure is a tool call that failed.
type Failure struct {
	At   time.Time `json:"at"`
	Turn int       `json:"turn,omitempty"`
	Tool string    `json:"tool,omitempty"` // its label
	Text string    `json:"text,omitempty"`
	Exit int       `json:"exit,omitempty"` // a command's exit code; 0 when none is known
	Call string    `json:"call,omitempty"`
	// Early says that the transcript showed it before the agent's event did.
	Early bool `json:"early,omitempty"`
}

// Subagent is a helper of the session. What it does belongs to the session; its end isn't
// the session's.
type Subagent struct {
	ID      string    `json:"id,omitempty"`
	Type    string    `json:"type,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	Tools   int       `json:"tools,omitempty"`
	Errors  int       `json:"errors,omitempty"`
	Summary string    `json:"summary,omitempty"`
}

// SubagentList are a session's subagents, oldest first, the last [MaxSubagents].
// A list is never written to: what changes it makes a new one.
type SubagentList []Subagent

// Questions need your decision in a session: what the agent itself asks, and requests in
// the inbox.
type Questions struct {
	// WaitingSince is when you were first asked for what is still open; zero while nothing
	// waits for you.
	WaitingSince time.Time     `json:"waitingSince,omitzero"`
	Asks         []Ask         `json:"asks,omitempty"`     // what the agent itself asks
	Requests     []OpenRequest `json:"requests,omitempty"` // waiting in the inbox
}

// Ask is something you must decide.
type Ask struct {
	At     time.Time `json:"at"`
	Actor  string    `json:"actor,omitempty"` // the subagent that asks
	Call   string    `json:"call,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	Digest uint64    `json:"digest,omitempty"` // of the call's input, where it has no id
	What   string    `json:"what,omitempty"`   // in words
	// PutTool and PutDigest are tool and input as the question itself named them,
	// where the call does otherwise.
	PutTool   string `json:"putTool,omitempty"`
	PutDigest uint64 `json:"putDigest,omitempty"`

	N       int            `json:"n,omitempty"` // counted within the session
	Kind    event.ToolKind `json:"kind,omitempty"`
	Command string         `json:"command,omitempty"` // the beginning of the command that is asked about
	Whole   string         `json:"-"`                 // the whole command, while this daemon knows it
	Request string         `json:"request,omitempty"` // the request it was while it was in the inbox
	Event   string         `json:"-"`                 // the event that asked, while this daemon knows it
}

// OpenRequest is a request in hookmux's inbox, as opposed to a question at the agent's own
// prompt.
type OpenRequest struct {
	ID   string    `json:"id"` // of the request
	At   time.Time `json:"at"`
	What string    `json:"what,omitempty"` // in words
	// Ask is the number of the agent's own question about the same, 0 for none:
	// when the request ends without an answer, that question is still open.
	Ask int `json:"ask,omitempty"`
}

// Call is a tool call that began.
type Call struct {
	ID     string    `json:"id,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	Digest uint64    `json:"digest,omitempty"`
	Label  string    `json:"label,omitempty"`
	Actor  string    `json:"actor,omitempty"`
	At     time.Time `json:"at"`
	// Command is the beginning of the command that is run, Whole all of it while this
	// daemon knows it.
	Command string `json:"command,omitempty"`
	Whole   string `json:"-"`
	// Approved says that you were asked and said yes: the agent reported the call again.
	Approved bool `json:"leave,omitempty"`
}

// FinishedCall is a tool call that ended.
type FinishedCall struct {
	ID    string `json:"id"`
	Early bool   `json:"early,omitempty"` // its end came before its beginning
}

// Title is the name of a session.
type Title struct {
	Given  string `json:"given,omitempty"`  // by a person with rename; stands above all
	Own    string `json:"own,omitempty"`    // the best the agent has
	Source string `json:"source,omitempty"` // where Own comes from
}

// Name returns the title to show; empty when there is none.
func (t Title) Name() string {
	if t.Given != "" {
		return t.Given
	}
	return t.Own
}

// Locked reports whether you named the session.
func (t Title) Locked() bool { return t.Given != "" }

// newSession returns a session of which nothing is known.
func newSession(key Key, at time.Time) *Session {
	return &Session{
		Key: key, Status: NeverRan, Since: at, StartedAt: at, Machine: MachineState{Base: NeverRan, BaseSince: at},
	}
}

// Live reports whether the session has not ended.
func (s *Session) Live() bool { return s.Ended.IsZero() }

// copySession returns a copy that may be changed. Slices are shared: they are only ever
// replaced, never written to.
func (s *Session) copySession() *Session {
	next := *s
	if s.Turn != nil {
		turn := *s.Turn
		next.Turn = &turn
	}
	return &next
}

// currentActivity returns what is shown as going on in a turn.
func (m *MachineState) currentActivity(turn *Turn, isTerminal bool, background int) string {
	if !turn.Open() {
		return ""
	}
	if isTerminal {
		return m.Activity
	}
	calls := m.Calls
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].Actor == "" {
			return calls[i].Label
		}
	}
	if m.Activity == "" && background > 0 {
		return countOf(background, "background task")
	}
	return m.Activity
}

// requestPrefix begins the id of a session that was made for a request which
// names none. It leaves with the request.
const requestPrefix = "request:"
