// Package neutral holds what the hook client must know without asking the daemon: for each
// agent and event, the kind of the event, the answer that changes nothing, the answer that
// denies, the answer for a call that couldn't be checked, whether the agent waits for a
// decision, and how long it waits. The table is generated from the catalogue (go generate
// ./agent/...); it uses the standard library only, because the client links it.
package neutral

import "time"

// Answer holds the output of a hook process: two streams and an exit code.
type Answer struct {
	Stdout string
	Stderr string
	Exit   int
}

// UnreachableReason is the reason in Row.Deny, for the model.
const UnreachableReason = "hookmux could not be reached, and this call is only allowed with it; run: hookmux status"

// UncheckedReason is the reason in Row.Unchecked, for you or the model.
const UncheckedReason = "hookmux could not check this call because its daemon is not responding; run: " +
	"hookmux daemon restart"

// Row is one event of one agent.
type Row struct {
	Neutral Answer
	Deny    Answer // spoken when the user chose --on-unavailable deny
	// Unchecked is spoken where guards cover the event and neither the daemon nor
	// the check without it answered: the agent's own prompt where it can be
	// forced, else a refusal. Where nothing can be stopped it is Neutral.
	Unchecked Answer
	Kind      string        // the event's kind, such as tool.before
	Decides   bool          // the agent does something with the answer
	Timeout   time.Duration // how long the agent waits when its config says nothing
	// IgnoresOutputAfterExit says that the agent reads nothing more of a hook that has
	// exited: an answer must have been read before.
	IgnoresOutputAfterExit bool
}

// Lookup finds an event of an agent by their names in the catalogue. For what
// it does not know, silence and exit code 0: the one answer that every agent
// measured so far reads as "no opinion".
func Lookup(agent, event string) (Row, bool) {
	return lookup(agent, event)
}
