package approvals

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/memory"
	"github.com/hookmux/hookmux/internal/services"
)

// An agent that has hooks puts a request to them and, at the same time, to the
// editor that talks to it, which `hookmux acp` tells of. The person is asked once,
// by the way that comes first; what they said there by then counts for both.
// Without an answer the second leaves it to the agent, which waits for the first.

// askedBefore is for a request that came the other way before. Else it is
// remembered, and settle keeps what comes of it.
func askedBefore(asks *memory.HookAsks, agents *agent.Catalogue, c *Call) (out Outcome, before bool, settle func()) {
	if c.dryRun() || c.Event.Kind != event.PermissionRequest || c.Decision.Verdict == event.Deny {
		return Outcome{}, false, func() {}
	}
	if agents.OwnAgent(c.Event.Native) {
		return Outcome{}, false, func() {}
	}
	_, proxied := agents.Protocol(c.Event.Native)
	if said, ok := asks.Take(c.Event, proxied); ok {
		switch {
		case said.Verdict == event.Allow || said.Verdict == event.Modify || said.Verdict == event.Deny:
			*c.Decision = carryOver(*c.Decision, said)
		case c.Decision.Verdict == event.Ask && !proxied:
			c.Decision.Verdict = event.None // it is being asked about already
		}
		return Outcome{Skipped: services.HooksAsked}, true, func() {}
	}
	keep := asks.Remember(c.Event, proxied)
	return Outcome{}, false, func() { keep(*c.Decision) }
}
