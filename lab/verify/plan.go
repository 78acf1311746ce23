package verify

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Row is one line of a report.
type Row struct {
	Check string `json:"check"`
	Event string `json:"event,omitempty"`
	Claim string `json:"claim,omitempty"`
	// Claimed says that hookmux claims this, in the catalogue or by having a
	// driver: then ✗ fails the run.
	Claimed bool   `json:"claimed"`
	Proof   string `json:"catalogue,omitempty"` // the catalogue's own word on the claim
	checks.Result
}

// ID returns how --check names the row.
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

// task is a row before it is evaluated; check is nil for a claim without a check.
type task struct {
	row     Row
	subject checks.Subject
	check   *checks.Check
}

// plan lists the rows of an agent. wanted narrows them; empty means all.
func plan(a *agent.Agent, d drivers.Driver, wanted []string) []task {
	all := checks.All()
	var tasks []task
	for _, s := range checks.SubjectsOf(a, d) {
		found := false
		for i := range all {
			if all[i].Applies(s) {
				found = true
				tasks = append(tasks, task{rowOf(s, all[i].ID), s, &all[i]})
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

// matches reports whether a row was asked for, by row, by check or by event.
func matches(r Row, wanted string) bool {
	return strings.EqualFold(r.ID(), wanted) || strings.EqualFold(r.Check, wanted) || strings.EqualFold(r.Event, wanted)
}

func rowOf(s checks.Subject, check string) Row {
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

// evaluate sets a row's result.
func (t *task) evaluate(p *checks.Proof) {
	r := t.result(p)
	if r.Mark == checks.Fails {
		r = t.explainFailure(p, r)
	}
	t.row.Result = r
}

func (t *task) result(p *checks.Proof) checks.Result {
	if t.check == nil {
		if why := t.subject.Driver.Unproven[t.subject.Event.Name+"."+t.subject.Claim]; why != "" {
			return checks.UnsureBecause("%s", why)
		}
		if !testbed.RegistersFor(t.subject.Event) {
			return checks.NotInstalledBecause(t.subject.Event.Why)
		}
		if why := t.subject.Driver.Unseen[t.subject.Event.Name]; why != "" {
			return checks.UnsureBecause("%s", why)
		}
		return checks.UnsureBecause("no scripted turn brings this about yet")
	}
	return t.check.ResultOf(p, t.subject)
}

// KnowsChecks returns an error for a name given to --check that doesn't exist.
func KnowsChecks(wanted []string) error {
	for _, w := range wanted {
		known := false
		for _, a := range agent.Builtin().Agents() {
			d, ok := drivers.Find(a.Name)
			known = known || ok && len(plan(a, d, []string{w})) > 0
		}
		if !known {
			return fmt.Errorf("there's no check %q; `hookmux verify --list` lists them", w)
		}
	}
	return nil
}
