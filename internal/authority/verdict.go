package authority

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// Outcome says how a question ended. The zero value is the strictest.
type Outcome int

const (
	// Refused: not from here, whatever the caller brings.
	Refused Outcome = iota
	// NeedPIN: it can't be known who reads and types at this terminal, so only something
	// that the user alone knows helps.
	NeedPIN
	// NeedCode: you sit at this terminal, but it isn't clear that you meant this; the daemon
	// shows a code there, and you type it.
	NeedCode
	// Allowed: you at a trusted terminal, or a method that is open to every caller.
	Allowed
)

func (o Outcome) String() string {
	switch o {
	case NeedPIN:
		return wire.TerminalPIN
	case NeedCode:
		return wire.TerminalCode
	case Allowed:
		return wire.TerminalAllowed
	}
	return wire.TerminalRefused
}

// Cause is why an outcome is not Allowed.
type Cause int

const (
	// NoCause: nothing speaks against it.
	NoCause Cause = iota
	// OtherUser: the caller runs as another user.
	OtherUser
	// Invisible: the caller's process cannot be seen or is gone.
	Invisible
	// TooDeep: the caller runs below too many others.
	TooDeep
	// BelowAgent: an agent's process is above the caller or its terminal.
	BelowAgent
	// Variable: a process on the way carries an agent's variables.
	Variable
	// Marked: a process on the way carries the mark of an agent's children.
	Marked
	// BelowDaemon: the daemon started it, for a hook.
	BelowDaemon
	// Timer: cron or at started it.
	Timer
	// NoTerminal: it has no terminal.
	NoTerminal
	// LostSession: who opened its session is not above it.
	LostSession
	// Background: its terminal listens to another program.
	Background
	// NoClient: no client is attached to its tmux.
	NoClient
	// LocalLogin: the login comes from this very machine without a trusted terminal.
	LocalLogin
	// Unproven: nothing is known about the program that holds the terminal.
	Unproven
	// Between: a program or script is between the shell and the caller.
	Between
	// OtherProgram: the caller is not hookmux.
	OtherProgram
	// Shared: an agent at the same terminal could have typed it.
	Shared
	// NotShell: the terminal was opened for this command alone.
	NotShell
	// YoungShell: the terminal was opened after the request came up.
	YoungShell
	// OtherPane: the user's tmux shows another pane.
	OtherPane
	// NotTyped: no key was pressed there when the command began.
	NotTyped
	// Weakens: it takes protection away.
	Weakens
)

var causeNames = map[Cause]string{
	NoCause: "none", OtherUser: "other-user", Invisible: "invisible", TooDeep: "too-deep", BelowAgent: "below-agent",
	Variable: "variable", Marked: "marked", BelowDaemon: "below-daemon", Timer: "timer", NoTerminal: "no-terminal",
	LostSession: "lost-session", Background: "background", NoClient: "no-client", LocalLogin: "local-login",
	Unproven: "unproven", Between: "between", OtherProgram: "other-program", Shared: "shared", NotShell: "not-shell", YoungShell: "young-shell", OtherPane: "other-pane",
	NotTyped: "not-typed", Weakens: "weakens",
}

func (c Cause) String() string { return causeNames[c] }

// TerminalKind names the thing at the other end of a terminal.
type TerminalKind int

const (
	// NoTrustedTerminal is the zero value.
	NoTrustedTerminal TerminalKind = iota
	// Console is a screen and keyboard of the machine, or a serial line.
	Console
	// Remote is a login over the network, by a daemon of root's.
	Remote
	// Edge is a terminal that comes from outside of a container.
	Edge
	// Desktop is an installed terminal program on the machine's display. Other
	// programs of the user may be able to type into it.
	Desktop
	// Trusts is a terminal that you trusted from another trusted terminal.
	Trusts
)

var terminalNames = map[TerminalKind]string{
	NoTrustedTerminal: "none", Console: "console", Remote: "remote login", Edge: "container", Desktop: "desktop terminal",
	Trusts: "trusted terminal",
}

func (k TerminalKind) String() string { return terminalNames[k] }

// TrustedTerminal is where you sit.
type TrustedTerminal struct {
	Kind TerminalKind
	// TTY is the terminal whose keys you press; Leader opened it.
	TTY    string
	Leader proc.Process
	// Holder is the process behind the terminal, zero where it is out of sight.
	Holder proc.Process
	// Client is the tmux client at TTY itself, nil without tmux.
	Client *TerminalClient
	// NoCode says why a code shown there could be read or typed by other
	// programs, "" where it could not.
	NoCode string
}

// TerminalClient is a tmux client between the command and the trusted terminal.
type TerminalClient struct {
	TmuxClient
	Server proc.Process
	// Shows says that its keys go to the command's pane.
	Shows bool
	// Popup says that the command's own terminal is a popup over the client.
	Popup bool
}

// Verdict is the answer to one question.
type Verdict struct {
	// OK is short for Outcome == Allowed.
	OK      bool
	Outcome Outcome
	Cause   Cause
	// Why is one plain line: why not and what to do, or what trusted.
	Why string
	// Chain is the caller and what is above it; empty if that wasn't looked up.
	Chain []proc.Process
	// Agent is the catalogue name of the agent that was found, if any, with
	// its process and when that began.
	Agent    string
	AgentPID int
	Since    time.Time
	// TrustedTerminal is where the user sits, if rules 1 to 3 hold.
	Terminal TrustedTerminal
	// TTY is the caller's own terminal, Holder the process behind it.
	TTY    string
	Holder proc.Process
}

// Reason is Why as the caller reads it: what is not allowed from there says so.
func (v *Verdict) Reason() string {
	if v.Outcome == Refused || v.Outcome == NeedPIN {
		return "refused: " + v.Why
	}
	return v.Why
}

// Trusted says that you sit there, whether or not you meant this.
func (v *Verdict) Trusted() bool {
	return v.Outcome >= NeedCode && v.Terminal.Kind != NoTrustedTerminal
}

const inYourTerminal = "run it in your own terminal"

func refuseCall(cause Cause, format string, args ...any) Verdict {
	return Verdict{Cause: cause, Why: fmt.Sprintf(format, args...)}
}

// describeChain shows a chain, shortened in the middle.
func describeChain(chain []Process) string {
	const ends = 3
	var names []string
	for i, p := range chain {
		if len(chain) > 2*ends && i >= ends && i < len(chain)-ends {
			if i == ends {
				names = append(names, "…")
			}
			continue
		}
		names = append(names, printableName(p.Name))
	}
	return strings.Join(names, " < ")
}

// sinceText formats when something began.
func sinceText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return ", since " + at.Format("Jan 2 15:04")
}
