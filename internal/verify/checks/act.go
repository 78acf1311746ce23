// Package checks holds what is asked of an agent: acts, each one launch of the
// agent on a stage, and checks, which judge what the acts brought to light.
package checks

import (
	"context"
	"slices"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/verify/drivers"
	"github.com/hookmux/hookmux/internal/verify/stage"
)

// Act is one launch of an agent.
type Act struct {
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
	// Play brings the stage to life and returns when the agent has ended. What
	// only shows itself to be impossible while playing it says by unplayable.
	Play func(ctx context.Context, st *stage.Stage) error
}

// MaxHeadless is how many headless launches one agent may cost.
const MaxHeadless = 8

// Part is a set of acts and checks that belong together. Each part lives in
// files of its own and is named once, in the list of parts.
type Part struct {
	Acts   []Act
	Checks []Check
}

// builtinParts are what comes with hookmux, in the order of the report.
func builtinParts() []Part {
	return []Part{
		corePart(),
		feedPart(),
		questionPart(),
		statusPart(),
	}
}

func corePart() Part { return Part{Acts: builtinActs(), Checks: builtinChecks()} }

var registry = struct {
	sync.Mutex
	acts   []Act
	checks []Check
}{}

// AddAct adds an act, or replaces one of the same name.
func AddAct(a Act) {
	registry.Lock()
	defer registry.Unlock()
	for i := range registry.acts {
		if registry.acts[i].Name == a.Name {
			registry.acts[i] = a
			return
		}
	}
	registry.acts = append(registry.acts, a)
}

// AllActs lists the acts in the order they were registered.
func AllActs() []Act {
	registerBuiltins()
	registry.Lock()
	defer registry.Unlock()
	return slices.Clone(registry.acts)
}

func ActNamed(name string) (Act, bool) {
	for _, a := range AllActs() {
		if a.Name == name {
			return a, true
		}
	}
	return Act{}, false
}

// ActNames lists the names of all acts.
func ActNames() []string {
	var names []string
	for _, a := range AllActs() {
		names = append(names, a.Name)
	}
	return names
}

// WhyNotPlayed says why an act is not played with an agent.
func (a Act) WhyNotPlayed(of *agent.Agent, d drivers.Driver) string {
	if a.Cannot == nil || of == nil {
		return ""
	}
	return a.Cannot(of, d)
}

func (a Act) PlayedAtTerminal(of *agent.Agent, d drivers.Driver) bool {
	return a.AtTerminal != nil && a.AtTerminal(of, d)
}

var builtinsOnce sync.Once

// registerBuiltins registers what comes with hookmux, once, at first use.
func registerBuiltins() {
	builtinsOnce.Do(func() {
		for _, p := range builtinParts() {
			for _, a := range p.Acts {
				AddAct(a)
			}
			for _, c := range p.Checks {
				Add(c)
			}
		}
	})
}

// SortActs puts acts into the order they were registered in.
func SortActs(acts []*stage.Evidence) {
	rank := map[string]int{}
	for i, a := range AllActs() {
		rank[a.Name] = i
	}
	slices.SortStableFunc(acts, func(a, b *stage.Evidence) int { return rank[a.Act] - rank[b.Act] })
}
