// Package replay says what rules and guards would have done to calls that were
// recorded.
//
// Contract: nothing is changed and nobody is asked. A call of which something was
// cut, redacted or never recorded that a rule needs is counted as not replayable
// for that rule, never as one that the rule leaves alone. Memory is bounded
// however many calls there are.
package replay

import (
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/guard"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/textcut"
	"github.com/hookmux/hookmux/internal/wire"
)

// Options is what is replayed by.
type Options struct {
	Rules  []*rules.Rule
	States map[string]rules.State // what a person switched rules to, by id
	// Honour counts rules that only monitor as such; else they count as if they were on.
	Honour bool
	Guards guard.Set
	Home   string
	// Catalogue reads stored payloads again.
	Catalogue *agent.Catalogue
	// FindProject is the folder that a call belongs to, "" for none.
	FindProject func(cwd string) string
	// Keep says whether a call is looked at at all; nil: all are.
	Keep func(ev *event.Event, project string) bool
	// Progress hears now and then how many calls were looked at.
	Progress func(scanned int)
	// Workers is how many look at once; 0: one for each processor.
	Workers int
}

// Limits of a report.
const (
	samples   = 3    // calls named for each rule
	maxGroups = 1000 // projects that are told apart
	batchSize = 64
	// longestCall is how much of a call a sample shows.
	longestCall = 300
)

// Run replays stored calls and says what would have come of them.
func Run(entries iter.Seq2[wire.Entry, error], o Options) (*Report, error) {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if !o.Honour {
		o.Rules, o.States = withoutMonitor(o.Rules, o.States)
	}
	set := rules.NewSet(o.Rules, rules.Options{Home: o.Home, States: o.States})
	batches := make(chan batch, 2*o.Workers)
	workers := make([]*worker, o.Workers)
	var done sync.WaitGroup
	for i := range workers {
		w := newWorker(&o, set)
		workers[i] = w
		done.Go(func() { w.work(batches) })
	}
	err := feedBatches(entries, batches, o.Progress)
	close(batches)
	done.Wait()
	report := newReport()
	for _, w := range workers {
		report.merge(w.report)
		err = cmp.Or(err, w.err)
	}
	report.finish(o.Rules)
	return report, err
}

// withoutMonitor makes rules that only monitor count.
func withoutMonitor(list []*rules.Rule, states map[string]rules.State) ([]*rules.Rule, map[string]rules.State) {
	out := make([]*rules.Rule, len(list))
	for i, r := range list {
		if r.State == rules.Monitor {
			on := *r
			on.State = rules.On
			r = &on
		}
		out[i] = r
	}
	switched := map[string]rules.State{}
	for id, state := range states {
		if state == rules.Monitor {
			state = rules.On
		}
		switched[id] = state
	}
	return out, switched
}

// batch is a few stored calls in their order.
type batch struct {
	first int
	list  []wire.Entry
}

func feedBatches(entries iter.Seq2[wire.Entry, error], to chan<- batch, progress func(int)) error {
	n := 0
	next := batch{}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		next.list = append(next.list, entry)
		if n++; len(next.list) == batchSize {
			to <- next
			next = batch{first: n}
			if progress != nil {
				progress(n)
			}
		}
	}
	if len(next.list) > 0 {
		to <- next
	}
	return nil
}

// worker looks at calls with what it needs for itself.
type worker struct {
	*Options
	set      *rules.Set
	report   *Report
	projects map[string]string
	err      error
}

func newWorker(o *Options, set *rules.Set) *worker {
	return &worker{Options: o, set: set, report: newReport(), projects: map[string]string{}}
}

func (w *worker) work(batches <-chan batch) {
	for b := range batches {
		for i := range b.list {
			w.replay(&b.list[i], b.first+i)
		}
	}
}

// storedEvent is what of a stored event is needed to read it again.
type storedEvent struct {
	ID           string          `json:"id"`
	Time         time.Time       `json:"time"`
	Agent        string          `json:"agent"`
	AgentVersion string          `json:"agentVersion"`
	Kind         event.Kind      `json:"kind"`
	Native       string          `json:"native"`
	Cwd          string          `json:"cwd"`
	Truncated    bool            `json:"truncated"`
	Nested       bool            `json:"nested"`
	Raw          json.RawMessage `json:"raw"`
}

// Decode reads a stored event by the catalogue as it is now.
func Decode(catalogue *agent.Catalogue, stored json.RawMessage) (*event.Event, error) {
	var s storedEvent
	if err := json.Unmarshal(stored, &s); err != nil {
		return nil, err
	}
	if s.ID == "" {
		return nil, errors.New("a stored event has no id")
	}
	ev := catalogue.Decode(agent.Input{ID: s.ID, Time: s.Time, Agent: s.Agent, Event: s.Native, Payload: s.Raw,
		Cwd: s.Cwd, Truncated: s.Truncated})
	ev.Agent, ev.Native, ev.Kind = s.Agent, s.Native, s.Kind
	ev.AgentVersion, ev.Nested = s.AgentVersion, s.Nested
	return &ev, nil
}

func (w *worker) replay(entry *wire.Entry, number int) {
	ev, err := Decode(w.Catalogue, entry.Event)
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	project := w.projectOf(ev.Cwd)
	if w.Keep != nil && !w.Keep(ev, project) {
		return
	}
	w.report.Scanned++
	w.report.note(ev.Time)
	if entry.Outcome != nil && entry.Outcome.Twin != "" {
		w.report.Twins++
		return
	}
	w.report.add(w.judge(ev, project), recordedCall{
		number: number, ID: ev.ID, Time: ev.Time, Agent: ev.Agent, Project: project, Call: describeCall(ev),
		Happened: happened(entry.Outcome),
	})
}

func (w *worker) projectOf(cwd string) string {
	if w.FindProject == nil || cwd == "" {
		return cwd
	}
	if project, ok := w.projects[cwd]; ok {
		return project
	}
	project := w.FindProject(cwd)
	if project == "" {
		project = cwd
	}
	if len(w.projects) >= maxGroups {
		clear(w.projects)
	}
	w.projects[cwd] = project
	return project
}

// happened is what was decided about a call, as a word.
func happened(outcome *wire.Outcome) string {
	var decision event.Decision
	if outcome == nil || json.Unmarshal(outcome.Decision, &decision) != nil {
		return event.None.Word()
	}
	return decision.Verdict.Word()
}

// describeCall is what a call was about, on one line.
func describeCall(ev *event.Event) string {
	t := ev.Tool
	if t == nil {
		return ev.Native
	}
	for _, list := range [][]string{t.Commands, t.Writes, t.Reads, {t.URL}} {
		if i := slices.IndexFunc(list, func(s string) bool { return s != "" }); i >= 0 {
			return textcut.Marked(t.Name+": "+list[i], longestCall)
		}
	}
	return t.Name
}
