package cmux

import (
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/services"
)

// Names of agents may hold dashes: the longest that fits counts.
func TestWorkstreams(t *testing.T) {
	s := &Server{Deps: services.Deps{Catalogue: agent.Builtin()}}
	for id, want := range map[string][3]string{
		"claude-abc-def":      {"", "claude", "abc-def"},
		"claude-code-xyz":     {"", "claude", "xyz"}, // an alias, longer than the name
		"hermes-agent-1":      {"hermes-agent", "hermes", "1"},
		"s1":                  {"codex", "codex", "s1"},
		"nobody-1":            {"", "unknown", "nobody-1"},
		"opencode-ses_1-more": {"opencode", "opencode", "ses_1-more"},
	} {
		if agent, session := s.splitWorkstream(id, want[0]); agent != want[1] || session != want[2] {
			t.Errorf("%s is read as agent %q, session %q; want %q, %q", id, agent, session, want[1], want[2])
		}
	}
}
