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

// The outcomes of a [SeatView].
const (
	SeatAllowed = "allowed"
	SeatCode    = "code" // a person types a code at their terminal
	SeatPIN     = "PIN"
	SeatRefused = "refused"
)

// SeatView is what the hub makes of a caller.
type SeatView struct {
	Outcome string `json:"outcome"` // see [SeatAllowed] and the others
	Cause   string `json:"cause"`
	Reason  string `json:"reason"`
	Seat    string `json:"seat"` // what kind
	TTY     string `json:"tty,omitempty"`
	Agent   string `json:"agent,omitempty"`
	// Holder is the process to vouch for, where nothing is known about it.
	Holder int `json:"holder,omitempty"`
}
