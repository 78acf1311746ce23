package wire

import "time"

// Methods about who sits where.
const (
	MethodSeat       = "seat.look"   // what the hub makes of the caller
	MethodSeats      = "seat.list"   // terminals that a person vouched for
	MethodSeatAdd    = "seat.add"    // vouch for the holder of terminals
	MethodSeatRemove = "seat.remove" // take that back
)

// SeatParams names the process that holds terminals.
type SeatParams struct {
	PID int `json:"pid"`
}

// SeatInfo is a process whose terminals a person vouched for.
type SeatInfo struct {
	PID   int       `json:"pid"`
	Name  string    `json:"name"`
	Added time.Time `json:"added"`
	From  string    `json:"from"` // the terminal it was added from
	Alive bool      `json:"alive"`
}

// SeatView is what the hub makes of a caller.
type SeatView struct {
	Outcome string `json:"outcome"` // allowed, code, PIN, refused
	Cause   string `json:"cause"`
	Reason  string `json:"reason"`
	Seat    string `json:"seat"` // what kind
	TTY     string `json:"tty,omitempty"`
	Agent   string `json:"agent,omitempty"`
	// Holder is the process to vouch for, where nothing is known about it.
	Holder int `json:"holder,omitempty"`
}

// deciding are the methods for people. A person may have to type something
// before they are answered.
var deciding = map[string]bool{
	MethodStop: true, MethodOff: true, MethodOn: true, MethodInstall: true, MethodUninstall: true,
	MethodDoctor: true, MethodTmux: true,
	MethodConfigSet: true, MethodHooksAdd: true, MethodHooksSet: true, MethodHooksDrop: true, MethodTrust: true,
	MethodUntrust: true,
	MethodAllow:   true, MethodFeedReply: true, MethodFeedRelease: true, MethodGrantRevoke: true, MethodAway: true,
	MethodBack: true,
	MethodPIN:  true, MethodFeedPermit: true, MethodFeedQuestion: true, MethodFeedPlan: true, MethodModuleRun: true,
	MethodSessionRename: true, MethodSessionForget: true, MethodSessionSend: true, MethodSeatAdd: true,
	MethodSeatRemove: true, MethodConfirm: true, MethodConfirmFollow: true, MethodConfirmFirst: true,
	MethodConfirmFile: true, MethodConfirmRestore: true, MethodNotifyTest: true, MethodPackAdd: true,
	MethodPackDrop: true,
}

// AsksPerson tells whether a method may wait for a person at their terminal.
func AsksPerson(method string) bool { return deciding[method] }
