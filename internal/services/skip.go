package services

// Skip says why nobody was asked about an event: neither hooks nor a person.
type Skip int

// The reasons. NotSkipped is the normal way.
const (
	NotSkipped     Skip = iota
	SwitchedOff         // the user wants no hooks for now
	CallerLeft          // nobody waits for the answer any more: the agent was interrupted or gave up
	TwinUndecided       // the same question came through another file and is still open
	SessionCrowded      // too many requests of the session wait for a person
	PushesCrowded       // too many requests wait that programs pushed
	AgentReviews        // the agent's own reviewer decides, and no person is asked
	HooksAsked          // the same request came by the agent's hooks, or by its editor, before
)

var skipTexts = map[Skip]string{
	SwitchedOff:    "off",
	CallerLeft:     "caller left",
	TwinUndecided:  "its twin is still being decided",
	SessionCrowded: "too many requests of this session wait",
	PushesCrowded:  "too many pushed requests wait",
	AgentReviews:   "the agent's own reviewer decides",
	HooksAsked:     "the same request came before, by its hooks or its editor",
}

// String is the reason as it stands in the journal and on the wire; "" for
// NotSkipped.
func (s Skip) String() string { return skipTexts[s] }
