// Package checks holds what is asked of an agent: acts, each one launch of the
// agent on a stage, and checks, which judge what the acts brought to light.
package checks

import (
	"context"
	"slices"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/verify/drivers"
	"github.com/hookmux/hookmux/internal/verify/testbed"
)

// AgentRun is one launch of an agent.
type AgentRun struct {
	Name string
	What string // in a person's words, for the progress
	// Cannot says why an agent has no use for this act; empty: it is played.
	// Nil means that every agent can. It is asked before anything is started,
	// so that the number of launches follows from the plan.
	Cannot func(a *agent.Agent, d drivers.Driver) string
	// AtTerminal says that it is played at a terminal. Nil means headless; of
	// headless acts an agent may have no more than [MaxHeadless].
	AtTerminal func(a *agent.Agent, d drivers.Driver) bool
	// Brings says that this act brings an event about for sure: then its
	// absence is ✗. Built-in acts are asked first, then others in their order.
	Brings func(s Subject) bool
	// Execute brings the stage to life and returns when the agent has ended. What
	// only shows itself to be impossible while playing it says by unplayable.
	Execute func(ctx context.Context, st *testbed.TestBed) error
}

// MaxHeadless is how many headless launches one agent may cost.
const MaxHeadless = 8

// CheckGroup is a set of acts and checks that belong together. Each part lives in
// files of its own and is named once, in the list of parts.
type CheckGroup struct {
	Runs   []AgentRun
	Checks []Check
}

// builtinGroups are what comes with hookmux, in the order of the report.
func builtinGroups() []CheckGroup {
	return []CheckGroup{
		coreGroup(),
		feedGroup(),
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

// AddRun adds an act, or replaces one of the same name.
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

// AllRuns lists the acts in the order they were registered.
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

// RunNames lists the names of all acts.
func RunNames() []string {
	var names []string
	for _, a := range AllRuns() {
		names = append(names, a.Name)
	}
	return names
}

// WhyNotRun says why an act is not played with an agent.
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

// SortRuns puts acts into the order they were registered in.
func SortRuns(runs []*testbed.Evidence) {
	rank := map[string]int{}
	for i, a := range AllRuns() {
		rank[a.Name] = i
	}
	slices.SortStableFunc(runs, func(a, b *testbed.Evidence) int { return rank[a.Run] - rank[b.Run] })
}
