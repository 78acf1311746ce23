package wire

// How a request ended, as [InboxRequest] and [InboxOutcome] have it. Journals hold these codes:
// none ever changes, however much it reads like a sentence. What users read is worded in
// internal/ui/text.
const (
	EndAnswered      = "answered"
	EndAtPrompt      = "answered in the agent's own terminal"
	EndAgentGone     = "the agent is gone"
	EndHookGone      = "the agent no longer waits"
	EndTimeOver      = "time is over"
	EndSkipped       = "left to the agent's own prompt"
	EndDaemonStopped = "the daemon stopped"
	EndAbandoned     = "no one is there to answer any more"
	EndOverrun       = "the turn went on without an answer"
	EndHostLost      = "the link to its machine is lost"
	EndHostRemoved   = "its machine was removed from the list"
	EndLeftToHook    = "the hook that asked goes on without an answer"
)

// Why no one was asked about an event, as [Outcome] has it. Journals hold these codes as well.
const (
	SkipOff               = "off"
	SkipCallerLeft        = "caller left"
	SkipDuplicateOpen     = "its twin is still being decided"
	SkipTooManyOfSession  = "too many requests of this session wait"
	SkipTooManyPushed     = "too many pushed requests wait"
	SkipAgentReviews      = "the agent's own reviewer decides"
	SkipSameRequestBefore = "the same request came before, by its hooks or its editor"
	SkipInContainer       = "a container only hears denials and questions"
)

// OwnAgent is the agent under which hookmux records events of its own.
const OwnAgent = "hookmux"

// The events of hookmux's own, by their native names.
const (
	OwnRefused  = "refused"  // an attempt to do what isn't allowed
	OwnDecision = "decision" // the user decided
	OwnHook     = "hook"     // a TypeScript hook did something
	OwnGap      = "gap"      // a session went on without its hooks
	OwnUsage    = "usage"    // in a fleet's journal: what a machine's agents used in a day
	OwnFleet    = "fleet"    // this machine joined or left a fleet, or changed who is in it
	OwnMissing  = "missing"  // in the copy of another machine's log: events that it no longer has
	OwnDevice   = "device"   // a browser was paired, removed or used from elsewhere
)
