package verify

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent"
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
	Hint string `json:"hint,omitempty"` // what it is likely about, and what mends it
	// Seen is what an act that led to ✗ left to look at.
	Seen []string `json:"seen,omitempty"`
}

func holds(format string, args ...any) Result {
	return Result{Mark: Holds, Why: fmt.Sprintf(format, args...)}
}

func unsure(format string, args ...any) Result {
	return Result{Mark: Unsure, Why: fmt.Sprintf(format, args...)}
}

func fails(hint, format string, args ...any) Result {
	return Result{Mark: Fails, Why: fmt.Sprintf(format, args...), Hint: hint}
}

// Subject is what a check is about: an agent, one of its events, or one claim
// the catalogue makes about an event.
type Subject struct {
	Agent  *agent.Agent
	Driver Driver
	Event  *agent.EventSpec // nil: the agent as a whole
	Claim  string           // capability name; empty: the event as such
}

// Check is one thing that can be proven.
type Check struct {
	ID     string
	Proves string
	// Acts are what it looks at, all of them. They are played once for all
	// checks.
	Acts []string
	// Any says that it looks at whatever is played, and wants the act that
	// brings its event about; Acts is then empty.
	Any bool
	// Applies picks the subjects.
	Applies func(Subject) bool
	// Judge looks at the evidence. It is not asked when no act could be played.
	Judge func(p *Proof, s Subject) Result
	// Saboteur must make the check fail, on subjects that Sure picks (all when
	// nil): some checks only report what cannot be expected of every agent.
	Saboteur Saboteur
	Sure     func(Subject) bool
}

// Register adds a check: later work brings its own.
func Register(c Check) {
	registry.Lock()
	defer registry.Unlock()
	registry.checks = append(registry.checks, c)
}

// Checks lists all checks in the order they were registered.
func Checks() []Check {
	registerBuiltins()
	registry.Lock()
	defer registry.Unlock()
	return append([]Check(nil), registry.checks...)
}

// Proof is the evidence of one agent's acts.
type Proof struct {
	Agent    *agent.Agent
	Version  string // the agent's own
	Mine     bool   // a person's own config was part of it
	evidence map[string]*Evidence
}

// Of is the evidence of an act; never nil.
func (p *Proof) Of(act string) *Evidence {
	if e := p.evidence[act]; e != nil {
		return e
	}
	return &Evidence{Act: act, Missing: "not played"}
}

// All are the acts that were played, whatever came of them.
func (p *Proof) All() []*Evidence {
	var out []*Evidence
	for _, e := range p.evidence {
		if e.Missing == "" {
			out = append(out, e)
		}
	}
	sortActs(out)
	return out
}

// Row is one line of a report.
type Row struct {
	Check string `json:"check"`
	Event string `json:"event,omitempty"`
	Claim string `json:"claim,omitempty"`
	// Claimed says that hookmux claims this, in the catalogue or by having a
	// driver: then ✗ fails the run.
	Claimed bool   `json:"claimed"`
	Proof   string `json:"catalogue,omitempty"` // the catalogue's own word on the claim
	Result
}

// ID is how --check names the row.
func (r Row) ID() string {
	if r.Event == "" {
		return r.Check
	}
	name := r.Claim
	if name == "" {
		name = r.Check
	}
	return r.Event + "." + name
}

// task is a row before it is judged; check is nil for a claim nobody proves.
type task struct {
	row     Row
	subject Subject
	check   *Check
}

// subjectsOf lists everything there is to be said about an agent.
func subjectsOf(a *agent.Agent, d Driver) []Subject {
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

// plan lists the rows of an agent. wanted narrows them; empty means all.
func plan(a *agent.Agent, d Driver, wanted []string) []task {
	checks := Checks()
	var tasks []task
	for _, s := range subjectsOf(a, d) {
		found := false
		for i := range checks {
			if checks[i].Applies(s) {
				found = true
				tasks = append(tasks, task{rowOf(s, checks[i].ID), s, &checks[i]})
			}
		}
		if !found && s.Claim != "" {
			tasks = append(tasks, task{row: rowOf(s, "claim"), subject: s})
		}
	}
	if len(wanted) == 0 {
		return tasks
	}
	var chosen []task
	for _, t := range tasks {
		for _, w := range wanted {
			if matches(t.row, w) {
				chosen = append(chosen, t)
				break
			}
		}
	}
	return chosen
}

// matches: by row, by check or by event.
func matches(r Row, wanted string) bool {
	return strings.EqualFold(r.ID(), wanted) || strings.EqualFold(r.Check, wanted) || strings.EqualFold(r.Event, wanted)
}

func rowOf(s Subject, check string) Row {
	r := Row{Check: check, Claim: s.Claim, Claimed: true}
	if s.Event != nil {
		r.Event = s.Event.Name
		for _, c := range s.Event.Claims() {
			if c.Name == s.Claim {
				r.Proof = c.Capability.Proof
			}
		}
	}
	return r
}

// judge gives a row its result.
func (t *task) judge(p *Proof) {
	r := t.result(p)
	if r.Mark == Fails {
		r = t.explainFailure(p, r)
	}
	t.row.Result = r
}

func (t *task) result(p *Proof) Result {
	if t.check == nil {
		if why := t.subject.Driver.Unproven[t.subject.Event.Name+"."+t.subject.Claim]; why != "" {
			return unsure("%s", why)
		}
		if !registersFor(t.subject.Event) {
			return unsure("hookmux does not install this event by default (%s)", t.subject.Event.Why)
		}
		if why := t.subject.Driver.Unseen[t.subject.Event.Name]; why != "" {
			return unsure("%s", why)
		}
		return unsure("no scripted turn brings this about yet")
	}
	for _, name := range t.check.Acts {
		e := p.Of(name)
		if e.Missing != "" {
			return unsure("%s", e.Missing)
		}
		if e.Err != nil {
			return fails("", "%s: %v", name, e.Err)
		}
	}
	if t.check.Any && len(p.All()) == 0 {
		return unsure("nothing was played that could show it")
	}
	return t.check.Judge(p, t.subject)
}

// KnowsChecks says which of the names given to --check mean nothing.
func KnowsChecks(wanted []string) error {
	for _, w := range wanted {
		known := isRaw(w)
		for _, a := range agent.Builtin().Agents() {
			d, ok := Drive(a.Name)
			known = known || ok && len(plan(a, d, []string{w})) > 0
		}
		if !known {
			return fmt.Errorf("--check %s: no such check, event or both; `hookmux verify --list` lists them", w)
		}
	}
	return nil
}
