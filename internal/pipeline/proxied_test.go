package pipeline

import (
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/authority/callers"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// askedCallers notes how it was asked.
type askedCallers struct{ last string }

func (c *askedCallers) Of(int) callers.Caller              { c.last = "of"; return callers.Caller{} }
func (c *askedCallers) OfProxy(int, string) callers.Caller { c.last = "proxy"; return callers.Caller{} }
func (c *askedCallers) OfProbe(int) callers.Caller         { c.last = "probe"; return callers.Caller{} }
func (c *askedCallers) Above(int) []proc.Process           { return nil }

// Whoever tries a hook out is not looked at as an agent: a hookmux that runs from
// another place than the daemon (npm's) would be refused its next command.
func TestHowCallersAreAsked(t *testing.T) {
	for native, want := range map[string]string{
		"PreToolUse": "of", wire.ProbeEvent: "probe", "acp:session/request_permission": "proxy",
	} {
		c := &askedCallers{}
		callerOf(c, agent.Builtin(), 7, "claude", native)
		if c.last != want {
			t.Errorf("%s: asked by %q, want %q", native, c.last, want)
		}
	}
}
