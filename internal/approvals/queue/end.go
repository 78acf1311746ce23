package queue

import "github.com/hookmux/hookmux/internal/wire"

// Status is the state of a request.
type Status string

// The statuses.
const (
	Pending   Status = wire.InboxPending
	Resolved  Status = wire.InboxResolved
	Expired   Status = wire.InboxExpired
	Withdrawn Status = wire.InboxWithdrawn
)

// End is why a request ended. Each request has exactly one.
type End int

// The ends.
const (
	Waiting     End = iota // it has not ended
	Answered               // by a person, here
	AtPrompt               // by a person, at the agent's own prompt
	AgentGone              // the agent's process is gone
	HookGone               // the hook that waited hung up
	TimeOver               // no one answered in time
	Skipped                // a person left it to the agent's own prompt
	DaemonStops            // the daemon stopped
	Abandoned              // nobody is there any more who could answer
	// Overrun: events say that the agent went on, but it was asked about before
	// the call, where there is no window to answer in. Anything of the user may
	// report events, so this is never taken for a yes.
	Overrun
	LeftToHook // a person left it to the hook that asked
	// OtherEnd is one that this version does not know, read from a journal.
	OtherEnd
)

var endCodes = map[End]string{
	Waiting:     "",
	Answered:    wire.EndAnswered,
	AtPrompt:    wire.EndAtPrompt,
	AgentGone:   wire.EndAgentGone,
	HookGone:    wire.EndHookGone,
	TimeOver:    wire.EndTimeOver,
	Skipped:     wire.EndSkipped,
	DaemonStops: wire.EndDaemonStopped,
	Abandoned:   wire.EndAbandoned,
	Overrun:     wire.EndOverrun,
	LeftToHook:  wire.EndLeftToHook,
}

// Code returns the end as journals and the wire spell it.
func (e End) Code() string { return endCodes[e] }

// ParseEnd reads an end out of a journal.
func ParseEnd(code string) End {
	for e, known := range endCodes {
		if known == code {
			return e
		}
	}
	return OtherEnd
}

// IsFinal reports whether such an end settles the request. After the other ends, the
// agent's own prompt, if it has one, is still open.
func (e End) IsFinal() bool {
	return e == Answered || e == AtPrompt || e == AgentGone || e == Overrun || e == LeftToHook
}

// Status returns what an end means to who looks at the request.
func (e End) Status() Status {
	switch e {
	case Waiting:
		return Pending
	case Answered, AtPrompt:
		return Resolved
	case TimeOver:
		return Expired
	}
	return Withdrawn
}
