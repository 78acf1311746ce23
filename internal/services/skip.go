package services

import "github.com/hookmux/hookmux/internal/wire"

// Skip says why no one was asked about an event: neither hooks nor the user.
type Skip int

// The reasons. NotSkipped is the normal way.
const (
	NotSkipped         Skip = iota
	SwitchedOff             // the user wants no hooks for now
	CallerLeft              // nothing waits for the answer any more: the agent was interrupted or gave up
	DuplicateUndecided      // the same question came through another file and is still open
	TooManyOfSession        // too many requests of the session wait for the user
	TooManyPushed           // too many requests wait that programs pushed
	AgentReviews            // the agent's own reviewer decides, and the user isn't asked
	HooksAsked              // the same request came by the agent's hooks, or by its editor, before
	InContainer             // the call would have been let through or changed; the agent runs in a container
)

var skipCodes = map[Skip]string{
	SwitchedOff:        wire.SkipOff,
	CallerLeft:         wire.SkipCallerLeft,
	DuplicateUndecided: wire.SkipDuplicateOpen,
	TooManyOfSession:   wire.SkipTooManyOfSession,
	TooManyPushed:      wire.SkipTooManyPushed,
	AgentReviews:       wire.SkipAgentReviews,
	HooksAsked:         wire.SkipSameRequestBefore,
	InContainer:        wire.SkipInContainer,
}

// Code returns the reason as it is in the journal and on the wire; "" for NotSkipped.
func (s Skip) Code() string { return skipCodes[s] }
