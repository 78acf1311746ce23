package checks

import (
	"fmt"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Mark is the outcome of a check.
type Mark string

// The outcomes.
const (
	Holds  Mark = "✓"
	Fails  Mark = "✗"
	Unsure Mark = "–" // not proven; Why says why
)

// Result is a check's word on one subject.
type Result struct {
	Mark Mark   `json:"mark"`
	Why  string `json:"why,omitempty"`  // what was seen, or why nothing could be
	Hint string `json:"hint,omitempty"` // what it is likely about, and what fixes it
	// Seen holds what a run that led to ✗ left to look at.
	Seen []string `json:"seen,omitempty"`
	// Cause distinguishes rows that a report shows together, or not at all.
	Cause Cause `json:"-"`
}

// Cause is why a check couldn't be sure, if a report must know.
type Cause int

const (
	OtherCause   Cause = iota
	NotInstalled       // hookmux does not install the event by default
	NeverCame          // no payload could be looked at; the row "fires" says why
)

// NotInstalledBecause returns the word on an event that hookmux does not install by default.
func NotInstalledBecause(why string) Result {
	return Result{Mark: Unsure, Why: "hookmux does not install this event by default (" + why + ")",
		Cause: NotInstalled}
}

func HoldsBecause(format string, args ...any) Result {
	return Result{Mark: Holds, Why: fmt.Sprintf(format, args...)}
}

func UnsureBecause(format string, args ...any) Result {
	return Result{Mark: Unsure, Why: fmt.Sprintf(format, args...)}
}

func FailsBecause(hint, format string, args ...any) Result {
	return Result{Mark: Fails, Why: fmt.Sprintf(format, args...), Hint: hint}
}

// Subject is the subject of a check: an agent, one of its events, or one claim
// the catalogue makes about an event.
type Subject struct {
	Agent  *agent.Agent
	Driver drivers.Driver
	Event  *agent.EventSpec // nil: the agent as a whole
	Claim  string           // capability name; empty: the event as such
}

// Check is one thing that can be proven.
type Check struct {
	ID     string
	Proves string
	// Runs lists the runs it looks at, all of them. They are run once for all
	// checks.
	Runs []string
	// Any says that it looks at whatever is run, and needs the run that causes its
	// event; Runs is then empty.
	Any bool
	// Applies picks the subjects.
	Applies func(Subject) bool
	// Evaluate looks at the evidence. It is not asked when no run could be run.
	Evaluate func(p *Proof, s Subject) Result
	// Breakage must make the check fail, on subjects that Sure picks (all when
	// nil): some checks only report what cannot be expected of every agent.
	Breakage testbed.Breakage
	Sure     func(Subject) bool
}

// Add registers a check, in addition to the groups.
func Add(c Check) {
	registry.Lock()
	defer registry.Unlock()
	registry.checks = append(registry.checks, c)
}

// All lists all checks in the order they were registered.
func All() []Check {
	registerBuiltins()
	registry.Lock()
	defer registry.Unlock()
	return append([]Check(nil), registry.checks...)
}

// Proof is the evidence of one agent's runs.
type Proof struct {
	Agent    *agent.Agent
	Version  string // the agent's own
	Mine     bool   // the user's own config was part of it
	Evidence map[string]*testbed.Evidence
}

// Of returns the evidence of a run; never nil.
func (p *Proof) Of(run string) *testbed.Evidence {
	if e := p.Evidence[run]; e != nil {
		return e
	}
	return &testbed.Evidence{Run: run, Missing: "not played"}
}

// All returns the runs that were run, whatever their result.
func (p *Proof) All() []*testbed.Evidence {
	var out []*testbed.Evidence
	for _, e := range p.Evidence {
		if e.Missing == "" {
			out = append(out, e)
		}
	}
	SortRuns(out)
	return out
}

// SubjectsOf lists every subject of an agent.
func SubjectsOf(a *agent.Agent, d drivers.Driver) []Subject {
	all := []Subject{{Agent: a, Driver: d}}
	for _, e := range a.Events {
		if e.Install != agent.InstallNever {
			all = append(all, Subject{Agent: a, Driver: d, Event: e})
		}
		for _, c := range e.Claims() {
			all = append(all, Subject{Agent: a, Driver: d, Event: e, Claim: c.Name})
		}
	}
	return all
}

// ResultOf evaluates a subject, unless a run that the check looks at could not be
// run.
func (c *Check) ResultOf(p *Proof, s Subject) Result {
	for _, name := range c.Runs {
		e := p.Of(name)
		if e.Missing != "" {
			return UnsureBecause("%s", e.Missing)
		}
		if e.Err != nil {
			return FailsBecause("", "%s: %v", name, e.Err)
		}
	}
	if c.Any && len(p.All()) == 0 {
		return UnsureBecause("nothing was played that could show it")
	}
	return c.Evaluate(p, s)
}
