package wire

import "time"

// Methods about who sits where.
const (
	MethodWhoami         = "whoami"          // what the daemon makes of the caller
	MethodTerminals      = "terminal.list"   // terminals that the user trusted
	MethodTerminalAdd    = "terminal.add"    // trust the holder of terminals
	MethodTerminalRemove = "terminal.remove" // take that back
)

// TerminalParams names the process that holds terminals.
type TerminalParams struct {
	PID int `json:"pid"`
}

// TerminalLookParams ask what the daemon makes of the caller.
type TerminalLookParams struct {
	// Watch has the daemon notice the next key at the caller's terminal, instead of
	// an answer: in tmux, where programs can press keys, too, a view asks for that
	// before each key it waits for.
	Watch bool `json:"watch,omitempty"`
	// Again says that the view still waits for the same key: keys that you typed
	// elsewhere meanwhile are forgotten. A view says so every second.
	Again bool `json:"again,omitempty"`
}

// TerminalInfo is a process whose terminals the user trusted.
type TerminalInfo struct {
	PID   int       `json:"pid"`
	Name  string    `json:"name"`
	Added time.Time `json:"added"`
	From  string    `json:"from"` // the terminal it was added from
	Alive bool      `json:"alive"`
}

// The outcomes of a [TerminalView].
const (
	TerminalAllowed = "allowed"
	TerminalCode    = "code" // the user types a code at their terminal
	TerminalPIN     = "PIN"
	TerminalRefused = "refused"
)

// TerminalView shows how the daemon sees a caller.
type TerminalView struct {
	Outcome  string `json:"outcome"` // see [TerminalAllowed] and the others
	Cause    string `json:"cause"`
	Reason   string `json:"reason"`
	Terminal string `json:"terminal"` // what kind
	TTY      string `json:"tty,omitempty"`
	Agent    string `json:"agent,omitempty"`
	// Holder is the process to trust, if nothing is known about it.
	Holder int `json:"holder,omitempty"`
}
