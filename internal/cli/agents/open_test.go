package agents

import (
	"slices"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// A daemon and its updater are no open sessions, and what an agent starts of itself is part of one.
func TestOpenSessions(t *testing.T) {
	a, ok := agent.Builtin().Agent("codex")
	if !ok {
		t.Fatal("there is no codex")
	}
	const daemon = "/home/me/.codex/packages/app-server-daemon/releases/0.166.0/bin/codex"
	got := sessionsAmong(a, []ownProcess{
		{20, 1, daemon, []string{daemon, "app-server", "--listen", "unix://"}},
		{21, 1, daemon, []string{daemon, "app-server", "daemon", "pid-update-loop"}},
		{30, 9, "/usr/bin/codex", []string{"codex"}},
		{31, 30, "/usr/bin/codex", []string{"codex", "exec", "x"}},
		{32, 9, "/usr/bin/codex", []string{"codex", "login"}},
		{40, 9, "/usr/bin/codex", []string{"codex", "-m", "gpt-5.5", "fix it"}},
		{50, 9, "/usr/bin/vim", []string{"vim", "codex"}},
	})
	if want := []int{30, 40}; !slices.Equal(got, want) {
		t.Errorf("open are %v, want %v", got, want)
	}
}
