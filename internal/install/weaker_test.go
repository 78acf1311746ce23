package install

import (
	"slices"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// An installation that takes a guard's hooks away is noticed, whatever it is called.
func TestWeakerInstallations(t *testing.T) {
	claude, codex := known(t, "claude"), known(t, "codex")
	both := []*agent.Agent{claude, codex}
	for _, row := range []struct {
		name        string
		first, next Options
		want        []string
	}{
		{"the same", Options{}, Options{}, nil},
		{"only other events", Options{}, Options{Events: []string{"session.start"}}, []string{"claude", "codex"}},
		{"without permission requests", Options{}, Options{Events: []string{"tool.before"}}, []string{"claude", "codex"}},
		{"without events that guards don't answer", Options{},
			Options{Events: []string{"tool.before", "tool.permission.request"}}, nil},
		{"more events", Options{Events: []string{"turn.end"}}, Options{Usual: true}, nil},
		{"no longer denied", Options{Deny: true}, Options{Neutral: true}, []string{"claude", "codex"}},
		{"denied from now on", Options{}, Options{Deny: true}, nil},
		{"one agent", Options{}, Options{Agents: []*agent.Agent{codex}, Events: []string{"turn.end"}}, []string{"codex"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHost(t)
			o := row.next
			if o.Agents == nil {
				o.Agents = both
			}
			row.first.Agents = both
			o.Scope, row.first.Scope = User, User
			plan, err := h.Install(row.first)
			if err != nil {
				t.Fatal(err)
			}
			if weaker, err := h.Weaker(row.first, plan); err != nil || len(weaker) > 0 {
				t.Errorf("a first installation: got %q, %v, want none", weaker, err)
			}
			mustInstall(t, h, row.first)
			if plan, err = h.Install(o); err != nil {
				t.Fatal(err)
			}
			got, err := h.Weaker(o, plan)
			if err != nil || !slices.Equal(got, row.want) {
				t.Errorf("got %q, %v, want %q", got, err, row.want)
			}
		})
	}
}
