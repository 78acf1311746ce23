package install

import (
	"path/filepath"
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
		for _, kind := range []string{"model.before", "context.compact.after", "context.compact.before",
			"permission.request", "tool.permission.request", "subagent.start", "user.attention"} {
			if events, err := Pick(a, []string{kind}); err == nil && len(events) == 0 &&
				CheckEvents([]*agent.Agent{a}, []string{kind}) == nil {
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
					t.Errorf(`p.Agents = %+v, want p.Hooked() = 0 and "gets no hooks" in `+
						`strings.Join(p.Agents[0].Notes, "\n")`, p.Agents)
				}
			}
			check()
			for path := range picture(t, h.Dirs.Home) {
				if _, was := before[path]; !was {
					t.Errorf("%s: was made; want was", path)
				}
			}
			// What was installed before goes.
			mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true})
			check()
			for _, s := range h.ReadSites(a) {
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
			t.Errorf("%v: p.Agents[0].Notes = %q, want slices.ContainsFunc(p.Agents[0].Notes, func(n string) bool { "+
				"return strings.Contains(n, c.want) })", c.events, p.Agents[0].Notes)
		}
	}
}

// Which open sessions see it, and when.
func TestOpenSessionsAreNamed(t *testing.T) {
	a := known(t, "codex")
	for want, pids := range map[string][]int{
		"": {}, "1 is open now (pid 7): open Codex sessions see it after /clear": {7}, "2 are open now (pid 7, 8): open": {7, 8},
		"10 are open now (pid 1, 2, 3, 4, 5, 6, 7, 8, …): open": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
	} {
		h := newHost(t)
		h.Open = func(*agent.Agent) []int { return pids }
		p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true})
		if got := p.Agents[0].Pickup; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf(`%v: got %q, want one that begins with %q and not want == "" && got != ""`, pids, got, want)
		}
		if p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true}); p.Agents[0].Pickup != "" {
			t.Errorf("nothing changed, and it says %q", p.Agents[0].Pickup)
		}
	}
}

// Agents that run the hooks in others' files are named, for the files they
// really read.
func TestCrossReadersAreNamed(t *testing.T) {
	claude, grok, copilot := known(t, "claude"), known(t, "grok"), known(t, "copilot")
	all := []*agent.Agent{claude, grok, copilot}
	for _, c := range []struct {
		scope         string
		agents        []*agent.Agent
		grok, copilot bool
	}{
		{User, []*agent.Agent{claude}, true, false},
		{Project, []*agent.Agent{claude}, true, true},
		{User, all, true, false},
		{Project, all, true, true},
	} {
		h := newHost(t)
		for _, name := range []string{"grok", "copilot"} {
			file := filepath.Join(filepath.Dir(h.Hook), name)
			write(t, file, "#!/bin/sh\n")
			mustChmod(t, file)
		}
		p := mustInstall(t, h, Options{Agents: c.agents, Scope: c.scope, Known: all})
		var notes string
		for _, a := range p.Agents {
			notes += strings.Join(a.Notes, "\n") + "\n"
		}
		for title, want := range map[string]bool{grok.Title + " runs the hooks it finds": c.grok,
			copilot.Title + " runs the hooks it finds": c.copilot} {
			if strings.Contains(notes, title) != want {
				t.Errorf("%s, %d agents: %q is said: %v\n%s", c.scope, len(c.agents), title, !want, notes)
			}
		}
		_, found := examine(h, claude, nil)
		readers := 0
		for _, f := range found {
			if f.Check == "read by" {
				readers++
			}
		}
		if want := map[bool]int{false: 1, true: 2}[c.copilot]; readers != want {
			t.Errorf("%s: the doctor names %d readers", c.scope, readers)
		}
	}
}
