package pipeline

import (
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// Where an agent's own hooks tell of a session, a proxy's reports of it are
// passed over, but requests for permission count for the hooks' session.
func TestHooksTellBeforeProxies(t *testing.T) {
	var h hookedSessions
	tell := func(name, native string, kind event.Kind, session string) (*event.Event, bool) {
		ev := &event.Event{Agent: name, Native: native, Kind: kind, Session: session, Where: event.Place{PID: 7}}
		return ev, h.tellBefore(agent.Builtin(), ev)
	}
	if _, before := tell("acp-agent", "acp:session/new", event.SessionStart, "s"); before {
		t.Error("a proxy's report is passed over before any hook told, want it taken")
	}
	if _, before := tell("claude", "SessionStart", event.SessionStart, "s"); before {
		t.Error("a hook's own event is passed over, want it taken")
	}
	if _, before := tell("acp-agent", "acp:tool_call", event.ToolBefore, "s"); !before {
		t.Error("a proxy's report is taken beside the hooks' own, want it passed over")
	}
	ev, before := tell("acp-agent", "acp:session/request_permission", event.PermissionRequest, "s")
	if before || ev.Agent != "claude" || ev.Where.PID != 0 {
		t.Errorf("a request for permission: passed over %v, agent %q, process %d; want it taken for claude's session, "+
			"wherever that runs", before, ev.Agent, ev.Where.PID)
	}
	if _, before := tell("acp-agent", "acp:tool_call", event.ToolBefore, "other"); before {
		t.Error("a report of another session is passed over, want it taken")
	}
}
