package verify

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// cheapest lists the agents for this by what a launch costs.
var cheapest = []string{"codex", "grok", "claude", "pi", "opencode", "codebuddy"}

// narrow picks one row of checks that look at every event.
var narrow = map[string]string{"fires": "SessionEnd.fires", "decodes": "SessionStart.decodes"}

func isWanted(name string) bool {
	wanted := strings.Fields(os.Getenv("HOOKMUX_VERIFY"))
	return slices.Contains(wanted, name) || slices.Contains(wanted, "all")
}

// atTerminal says that a check looks at a run that is run at a terminal.
func atTerminal(c checks.Check, name string, d drivers.Driver) bool {
	a, _ := agent.Builtin().Agent(name)
	return slices.ContainsFunc(c.Runs, func(run string) bool {
		found, _ := checks.RunNamed(run)
		return found.RunsAtTerminal(a, d)
	})
}

// reachesAgent says that a breakage breaks something that the agent uses: plugins
// run no hook client, and what is laid over the catalogue names an event.
func reachesAgent(s testbed.Breakage, a *agent.Agent) bool {
	if a.Install != nil && a.Install.Way == agent.WayPlugin && s.In+s.Out+s.First+s.Broken != "" {
		return false
	}
	if a.Name == "grok" && s.Name == "stray-line" {
		return false // it drops what a hook prints beside an answer: nothing is broken by it
	}
	_, known := a.Event("SessionEnd")
	return known || !strings.Contains(s.Catalogue, "SessionEnd")
}

// TestRealBreakages breaks hookmux on purpose: every check must notice its
// breakage, else it proves nothing.
func TestRealBreakages(t *testing.T) {
	type group struct{ agent, breakage string }
	groups := map[group][]checks.Check{}
	var order []group
	for _, c := range checks.All() {
		name := ""
		for _, n := range cheapest {
			a, _ := agent.Builtin().Agent(n)
			d, _ := drivers.Find(n)
			sure := func(s checks.Subject) bool {
				return c.Applies(s) && (c.Sure == nil || c.Sure(s)) && reachesAgent(c.Breakage, a)
			}
			if name == "" && isWanted(n) && slices.ContainsFunc(checks.SubjectsOf(a, d), sure) {
				name = n
			}
		}
		if d, _ := drivers.Find(name); name != "" && atTerminal(c, name, d) &&
			os.Getenv("HOOKMUX_VERIFY_QUICK") == "1" {
			t.Run(c.ID, func(t *testing.T) {
				t.Skip("at a terminal, where it waits for what does not come; make verify-all runs it")
			})
			continue
		}
		if name == "" {
			t.Run(c.ID, func(t *testing.T) { t.Skip("no agent that this check is about was asked for") })
			continue
		}
		g := group{name, c.Breakage.Name}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], c)
	}
	slots := make(chan struct{}, 2)
	for _, g := range order {
		t.Run(g.agent+" "+g.breakage, func(t *testing.T) {
			t.Parallel()
			in := agentstest.Require(t, g.agent)
			slots <- struct{}{}
			defer func() { <-slots }()
			group := groups[g]
			var ids []string
			for _, c := range group {
				id := c.ID
				if narrow[id] != "" {
					id = narrow[id]
				}
				ids = append(ids, id)
			}
			r, err := Run(context.Background(), Options{
				Targets: []Target{{g.agent, in}}, Bin: builtBin(t), Checks: ids, Breakage: &group[0].Breakage,
				Parallel: 1,
				Patience: 45 * time.Second,
			})
			if err != nil || r.Agents[0].Problem != "" {
				t.Fatalf(`error %v, r.Agents[0].Problem = %q; want no error and r.Agents[0].Problem = ""`,
					err, r.Agents[0].Problem)
			}
			for _, c := range group {
				caught := false
				for _, row := range r.Agents[0].Rows {
					if row.Check == c.ID && row.Mark == checks.Fails {
						caught = true
						t.Logf("%s noticed %s: %s: %s", c.ID, c.Breakage.What, row.ID(), row.Why)
						break
					}
				}
				if !caught {
					t.Errorf("%s did not notice %s", c.ID, c.Breakage.What)
					for _, row := range r.Agents[0].Rows {
						if row.Check == c.ID {
							t.Logf("  %s %s %s", row.Mark, row.ID(), row.Why)
						}
					}
				}
			}
		})
	}
}

// Every check has a breakage, and every breakage a name of its own.
func TestEveryCheckHasABreakage(t *testing.T) {
	names := map[string]string{}
	for _, c := range checks.All() {
		s := c.Breakage
		if c.ID == "" || c.Proves == "" || len(c.Runs) == 0 && !c.Any || c.Applies == nil || c.Evaluate == nil {
			t.Errorf("%s is not whole", c.ID)
		}
		// breaks nothing
		if s.Name == "" || s.What == "" || reflect.DeepEqual(s, testbed.Breakage{Name: s.Name, What: s.What}) {
			t.Errorf("%s has no breakage", c.ID)
		}
		if was, ok := names[s.Name]; ok && was != s.What {
			t.Errorf("two saboteurs called %s", s.Name)
		}
		names[s.Name] = s.What
		for _, run := range c.Runs {
			if _, ok := checks.RunNamed(run); !ok {
				t.Errorf("%s looks at %s, which is not an act", c.ID, run)
			}
		}
	}
}
