// Package checks holds what is verified about an agent: runs, each one launch of the agent on a test
// bed, and checks, which evaluate what the runs showed.
package checks

import (
	"context"
	"slices"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// AgentRun is one launch of an agent.
type AgentRun struct {
	Name string
	What string // in plain terms, for the progress
	// Cannot returns why an agent can't have this run; "" if it can. Nil means
	// that every agent can. It is called before anything is started, so that the
	// number of launches follows from the plan.
	Cannot func(a *agent.Agent, d drivers.Driver) string
	// AtTerminal says that it happens at a terminal. Nil means headless; of
	// headless runs an agent may have no more than [MaxHeadless].
	AtTerminal func(a *agent.Agent, d drivers.Driver) bool
	// Brings says that this run is certain to cause an event: then its absence
	// is ✗. Built-in runs are asked first, then others in their order.
	Brings func(s Subject) bool
	// Execute starts everything on the test bed and returns when the agent has ended.
	// Its error is a CannotRun if the run turns out to be impossible.
	Execute func(ctx context.Context, st *testbed.TestBed) error
}

// MaxHeadless is how many headless launches one agent may cost.
const MaxHeadless = 8

// CheckGroup is a set of runs and checks that belong together. Each group lives
// in files of its own and is named once, in builtinGroups.
type CheckGroup struct {
	Runs   []AgentRun
	Checks []Check
}

// builtinGroups returns what comes with hookmux, in the order of the report.
func builtinGroups() []CheckGroup {
	return []CheckGroup{
		coreGroup(),
		inboxGroup(),
		questionGroup(),
		statusGroup(),
	}
}

func coreGroup() CheckGroup { return CheckGroup{Runs: builtinRuns(), Checks: builtinChecks()} }

var registry = struct {
	sync.Mutex
	runs   []AgentRun
	checks []Check
}{}

// AddRun adds a run, or replaces one of the same name.
func AddRun(a AgentRun) {
	registry.Lock()
	defer registry.Unlock()
	for i := range registry.runs {
		if registry.runs[i].Name == a.Name {
			registry.runs[i] = a
			return
		}
	}
	registry.runs = append(registry.runs, a)
}

// AllRuns lists the runs in the order they were registered.
func AllRuns() []AgentRun {
	registerBuiltins()
	registry.Lock()
	defer registry.Unlock()
	return slices.Clone(registry.runs)
}

func RunNamed(name string) (AgentRun, bool) {
	for _, a := range AllRuns() {
		if a.Name == name {
			return a, true
		}
	}
	return AgentRun{}, false
}

// RunNames lists the names of all runs.
func RunNames() []string {
	var names []string
	for _, a := range AllRuns() {
		names = append(names, a.Name)
	}
	return names
}

// WhyNotRun returns why a run is left out for an agent; "" if it isn't.
func (a AgentRun) WhyNotRun(of *agent.Agent, d drivers.Driver) string {
	if a.Cannot == nil || of == nil {
		return ""
	}
	return a.Cannot(of, d)
}

func (a AgentRun) RunsAtTerminal(of *agent.Agent, d drivers.Driver) bool {
	return a.AtTerminal != nil && a.AtTerminal(of, d)
}

var builtinsOnce sync.Once

// registerBuiltins registers what comes with hookmux, once, at first use.
func registerBuiltins() {
	builtinsOnce.Do(func() {
		for _, p := range builtinGroups() {
			for _, a := range p.Runs {
				AddRun(a)
			}
			for _, c := range p.Checks {
				Add(c)
			}
		}
	})
}

// SortRuns puts runs into the order they were registered in.
func SortRuns(runs []*testbed.Evidence) {
	rank := map[string]int{}
	for i, a := range AllRuns() {
		rank[a.Name] = i
	}
	slices.SortStableFunc(runs, func(a, b *testbed.Evidence) int { return rank[a.Run] - rank[b.Run] })
}
