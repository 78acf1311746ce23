package state

// This file names why an event or a report leaves a session as it is.

// StaleReason is why an event did not touch the status.
type StaleReason int

// The reasons. No is the normal case.
const (
	No StaleReason = iota
	NoSession
	BeginsNoSession
	UnknownParent
	SessionOver
	BeforeSessionEnd
	TurnOver
	SentBeforeTurn
	BeforeTurn
	NoTurnToInterrupt
	NoSuchTurn
	NoSuchQuestion
	NothingNew
	ToldByAgent
	BeforeTerminalState
	ResultStays
	NotRunning
	NoExitCode
)

var texts = [...]string{
	No:                  "",
	NoSession:           "the event names no session",
	BeginsNoSession:     "the event names no session and begins none",
	UnknownParent:       "a subagent of an unknown session",
	SessionOver:         "the session has ended",
	BeforeSessionEnd:    "older than the session's end",
	TurnOver:            "of a turn that is over",
	SentBeforeTurn:      "sent before the turn began",
	BeforeTurn:          "older than the turn",
	NoTurnToInterrupt:   "no turn to interrupt",
	NoSuchTurn:          "no such turn is open",
	NoSuchQuestion:      "no such question is open",
	NothingNew:          "no news",
	ToldByAgent:         "the agent's own events tell of this session",
	BeforeTerminalState: "older than the terminal's state",
	ResultStays:         "the result stays",
	NotRunning:          "only what runs can need input",
	NoExitCode:          "finished without an exit code",
}

// String returns the reason as it's shown.
func (r StaleReason) String() string { return texts[r] }
