package policy

import (
	"testing"

	"github.com/hookmux/hookmux/event"
)

// Where the agent's own reviewer decides, the need says so; a hook that wants a
// person still gets one, and what hooks decided stands.
func TestDecider(t *testing.T) {
	for _, c := range []struct {
		name, agent, native string
		reviewer            event.Reviewer
		so                  event.Verdict
		level               Level
		needed              bool
		want                Decider
	}{
		{"nothing known", "codex", "PermissionRequest", event.ReviewerUnknown, event.None, Permissions, true, UserDecides},
		{"the user", "codex", "PermissionRequest", event.ReviewerUser, event.None, Permissions, true, UserDecides},
		{"the reviewer", "codex", "PermissionRequest", event.ReviewerAgent, event.None, Permissions, true, AgentDecides},
		{"at every level", "codex", "PermissionRequest", event.ReviewerAgent, event.None, All, true, AgentDecides},
		{"a hook asks", "codex", "PermissionRequest", event.ReviewerAgent, event.Ask, Permissions, true, UserDecides},
		{"a hook refuses", "codex", "PermissionRequest", event.ReviewerAgent, event.Deny, Permissions, false, UserDecides},
		{"a hook allows", "codex", "PermissionRequest", event.ReviewerAgent, event.Allow, Permissions, false, UserDecides},
		{"off", "codex", "PermissionRequest", event.ReviewerAgent, event.None, Off, false, UserDecides},
		{"before the call", "codex", "PreToolUse", event.ReviewerAgent, event.None, All, true, UserDecides},
		// In auto mode Claude asks only after its own check, so a person is meant.
		{"claude", "claude", "PermissionRequest", event.ReviewerUnknown, event.None, Permissions, true, UserDecides},
	} {
		one := caseOf(t, c.agent, c.native, bash, c.level)
		one.Event.Reviewer, one.Decision = c.reviewer, event.Decision{Verdict: c.so, By: "hook"}
		if c.agent == "claude" {
			one.Event.Mode = "auto"
		}
		need, ok := NeedFor(one)
		if ok != c.needed || need.Decider != c.want {
			t.Errorf("%s: needed %v, decider %q; expected %v, %q", c.name, ok, need.Decider, c.needed, c.want)
		}
	}
}
