package verify

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/verify/model"
)

// Act is one launch of an agent.
type Act struct {
	Name string
	What string // in a person's words, for the progress
	// Raw acts need no hookmux: they are for agents beyond the catalogue.
	Raw bool
	// Cannot says why an agent has no use for this act; empty: it is played.
	// Nil means that every agent can. It is asked before anything is started,
	// so that the number of launches follows from the plan.
	Cannot func(a *agent.Agent, d Driver) string
	// AtTerminal says that it is played at a terminal. Nil means headless; of
	// headless acts an agent may have no more than [MaxHeadless].
	AtTerminal func(a *agent.Agent, d Driver) bool
	// Brings says that this act brings an event about for sure: then its
	// absence is ✗. Built-in acts are asked first, then others in their order.
	Brings func(s Subject) bool
	// Play brings the stage to life and returns when the agent has ended. What
	// only shows itself to be impossible while playing it says by unplayable.
	Play func(ctx context.Context, st *Stage) error
}

// MaxHeadless is how many headless launches one agent may cost.
const MaxHeadless = 8

// unplayable is the error of an act that an agent has no use for.
type unplayable string

func (u unplayable) Error() string { return string(u) }

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

// RegisterAct adds an act, or replaces one of the same name.
func RegisterAct(a Act) {
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

// allActs lists the acts in the order they were registered.
func allActs() []Act {
	registerBuiltins()
	registry.Lock()
	defer registry.Unlock()
	return slices.Clone(registry.acts)
}

func actNamed(name string) (Act, bool) {
	for _, a := range allActs() {
		if a.Name == name {
			return a, true
		}
	}
	return Act{}, false
}

// Acts lists the names of all acts.
func Acts() []string {
	var names []string
	for _, a := range allActs() {
		names = append(names, a.Name)
	}
	return names
}

// whyNotPlayed says why an act is not played with an agent.
func (a Act) whyNotPlayed(of *agent.Agent, d Driver) string {
	if a.Cannot == nil || of == nil {
		return ""
	}
	return a.Cannot(of, d)
}

func (a Act) atTerminal(of *agent.Agent, d Driver) bool {
	return a.AtTerminal != nil && a.AtTerminal(of, d)
}

var builtinsOnce sync.Once

// registerBuiltins registers what comes with hookmux, once, at first use.
func registerBuiltins() {
	builtinsOnce.Do(func() {
		for _, p := range builtinParts() {
			for _, a := range p.Acts {
				RegisterAct(a)
			}
			for _, c := range p.Checks {
				Register(c)
			}
		}
	})
}

// playAct runs one act of one agent.
func playAct(ctx context.Context, s *setting, a Act, keep bool) *Evidence {
	began := time.Now()
	known, _ := agent.Builtin().Agent(s.driver.Name)
	if why := a.whyNotPlayed(known, s.driver); why != "" {
		return &Evidence{Act: a.Name, Missing: why}
	}
	st, err := newStage(s, a.Name)
	if err != nil {
		return &Evidence{Act: a.Name, Err: err, Took: time.Since(began)}
	}
	defer func() {
		st.stopHub()
		if !keep {
			removeAll(st.Base)
		}
	}()
	err = a.Play(ctx, st)
	var cannot unplayable
	if u, ok := err.(unplayable); ok {
		cannot, err = u, nil
	}
	e := st.collectEvidence(err, began)
	e.Missing = string(cannot)
	e.Late = e.Took > s.patience*6/10
	if keep {
		if kerr := e.writeFiles(st); kerr != nil && e.Err == nil {
			e.Err = fmt.Errorf("the evidence cannot be kept: %w", kerr)
		}
	}
	return e
}

// markedPrompt is what a person asks; the mark has the model play its script.
func markedPrompt(words string) string { return words + " " + model.Mark("") }
