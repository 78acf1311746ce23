package approvals

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/memory"
	"github.com/hookmux/hookmux/internal/services"
)

// askedByHooks: an agent that has hooks puts its request to them and to the
// editor that talks to it, which `hookmux acp` tells of. The person is asked at
// the hook; what they said there counts for both. Without an answer the request
// goes on to the editor.
func askedByHooks(asks *memory.HookAsks, agents *agent.Catalogue, c *Call) (Outcome, bool) {
	if c.dryRun() || c.Event.Kind != event.PermissionRequest {
		return Outcome{}, false
	}
	if _, proxied := agents.Protocol(c.Event.Native); !proxied {
		return Outcome{}, false
	}
	said, ok := asks.Take(c.Event)
	if !ok || c.Decision.Verdict == event.Deny {
		return Outcome{}, false
	}
	*c.Decision = carryOver(*c.Decision, said)
	return Outcome{Skipped: services.HooksAsked}, true
}

// rememberAsk keeps what comes of a request that an agent's own hook puts.
func rememberAsk(asks *memory.HookAsks, agents *agent.Catalogue, c *Call) (settle func()) {
	if c.dryRun() || c.Event.Kind != event.PermissionRequest {
		return func() {}
	}
	if _, proxied := agents.Protocol(c.Event.Native); proxied {
		return func() {}
	}
	keep := asks.Remember(c.Event)
	return func() { keep(*c.Decision) }
}
