package install

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// An agent that has none of the events gets no file, and it is said.
func TestNoEventsNoFile(t *testing.T) {
	t.Parallel()
	for _, a := range installable() {
		var none string
		for _, kind := range []string{"model.before", "context.compact.after", "context.compact.before", "permission.request", "tool.permission.request", "subagent.start", "user.attention"} {
			if events, err := Pick(a, []string{kind}); err == nil && len(events) == 0 && CheckEvents([]*agent.Agent{a}, []string{kind}) == nil {
				none = kind
			}
		}
		if none == "" {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			h := newHost(t)
			before := picture(t, h.Dirs.Home)
			o := Options{Agents: []*agent.Agent{a}, Events: []string{none}, Deny: true, Trust: true}
			check := func() {
				t.Helper()
				p := mustInstall(t, h, o)
				if p.Hooked() != 0 || !strings.Contains(strings.Join(p.Agents[0].Notes, "\n"), "gets no hooks") {
					t.Errorf("%+v", p.Agents)
				}
			}
			check()
			for path := range picture(t, h.Dirs.Home) {
				if _, was := before[path]; !was {
					t.Errorf("%s: was made", path)
				}
			}
			// What was installed before goes.
			mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true})
			check()
			for _, s := range h.Look(a) {
				if s.Ours > 0 {
					t.Errorf("%s: still has hooks", s.Path)
				}
			}
		})
	}
}

func TestWhatIsSaidAboutRefusals(t *testing.T) {
	t.Parallel()
	claude := known(t, "claude")
	for _, c := range []struct {
		events []string
		want   string
	}{
		{nil, "calls are refused while hookmux cannot be reached, also when its program is gone"},
		{[]string{"tool.before"}, "calls are refused while hookmux cannot be reached, also when its program is gone"},
		{[]string{"turn.end"}, "nothing can be refused at these events"},
	} {
		h := newHost(t)
		p := mustInstall(t, h, Options{Agents: []*agent.Agent{claude}, Events: c.events, Deny: true})
		if !slices.ContainsFunc(p.Agents[0].Notes, func(n string) bool { return strings.Contains(n, c.want) }) {
			t.Errorf("%v: %q", c.events, p.Agents[0].Notes)
		}
	}
}
