// Package replay reports what rules and guards would have done to calls that were recorded.
//
// Contract: nothing is changed and no one is asked. If something that a rule needs was cut,
// redacted or never recorded, a call is counted as not replayable for that rule, never as one
// that the rule leaves alone. Memory is bounded however many calls there are.
package replay

import (
	"cmp"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// Options configures a replay.
type Options struct {
	Rules []*rules.Rule
	Modes map[string]rules.Mode // what the user switched rules to, by id
	// Honour treats log-only rules as log-only; otherwise they are treated as if they were on.
	Honour bool
	// Checks are the checks in Go that rules of built-in guards name.
	Checks map[string]rules.Checks
	Home   string
	// Catalogue reads stored payloads again.
	Catalogue *agent.Catalogue
	// FindProject returns the project whose rules apply in a folder, "" for none.
	FindProject func(cwd string) string
	// GroupOf returns the folder under which calls in a folder are counted; nil: its project.
	GroupOf func(cwd string) string
	// StartOf returns the folder that a session started in, an error if it isn't known; nil: the
	// folder of the call.
	StartOf func(agent, session string) (string, error)
	// ProjectRules are rules that apply in one project only; nil: there are none.
	ProjectRules func(project string) []*rules.Rule
	// Keep reports whether a call is looked at at all, given the folder it is counted under; nil:
	// all are.
	Keep func(ev *event.Event, group string) bool
	// Progress is called now and then with the number of calls looked at.
	Progress func(scanned int)
	// Workers is how many calls are looked at concurrently; 0: one for each processor.
	Workers int
}

// Limits of a report.
const (
	samples   = 3    // calls named for each rule
	maxGroups = 1000 // projects that are distinguished
	batchSize = 64
	// waitingBatches is how many are read ahead.
	waitingBatches = 16
	// longestCall is how much of a call a sample shows.
	longestCall = 300
)

// Run replays stored calls and reports what the verdicts would have been. Each is an entry of
// the journal as the daemon returns it ([wire.Entry]), in JSON; it must stay as it is until
// Run ends.
func Run(entries iter.Seq2[[]byte, error], o Options) (*Report, error) {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	sets := &ruleSets{options: &o, byProject: map[string]*rules.Set{}, states: o.Modes}
	if !o.Honour {
		sets.states = withoutLog(o.Modes)
	}
	batches := make(chan batch, waitingBatches)
	workers := make([]*worker, o.Workers)
	var done sync.WaitGroup
	for i := range workers {
		w := newWorker(&o, sets)
		workers[i] = w
		done.Go(func() { w.work(batches) })
	}
	inbox := feeder{to: batches, progress: o.Progress}
	if NeedsCounts(o.Rules) {
		inbox.counts = &orderedCounts{catalogue: o.Catalogue, tracker: facts.New()}
		inbox.evaluates = func(kind event.Kind) bool { return Evaluates(o.Rules, kind) }
	}
	err := inbox.all(entries)
	close(batches)
	done.Wait()
	report := newReport()
	for _, w := range workers {
		report.merge(w.report)
		err = cmp.Or(err, w.err)
	}
	report.finish(sets.all)
	return report, err
}

// withoutLog turns log-only modes into active ones.
func withoutLog(states map[string]rules.Mode) map[string]rules.Mode {
	switched := map[string]rules.Mode{}
	for id, state := range states {
		if state == rules.LogOnly {
			state = rules.Block
		}
		switched[id] = state
	}
	return switched
}

// ruleSets are the compiled rules for each project.
type ruleSets struct {
	options *Options
	states  map[string]rules.Mode

	mu        sync.Mutex
	byProject map[string]*rules.Set
	plain     *rules.Set    // if a project has no rules of its own
	all       []*rules.Rule // every rule that was made ready
}

// rulesIn returns the rules that count in a project.
func (s *ruleSets) rulesIn(project string) *rules.Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain == nil {
		s.plain = s.makeSet(s.options.Rules)
	}
	if s.options.ProjectRules == nil || project == "" {
		return s.plain
	}
	set := s.byProject[project]
	if set == nil {
		set = s.plain
		if own := s.options.ProjectRules(project); len(own) > 0 {
			set = s.makeSet(slices.Concat(s.options.Rules, own))
		}
		if len(s.byProject) >= maxGroups {
			clear(s.byProject)
		}
		s.byProject[project] = set
	}
	return set
}

func (s *ruleSets) makeSet(list []*rules.Rule) *rules.Set {
	ready := make([]*rules.Rule, len(list))
	for i, r := range list {
		if r.Mode == rules.LogOnly && !s.options.Honour {
			on := *r
			on.Mode = rules.Block
			r = &on
		}
		ready[i] = r
	}
	s.all = append(s.all, ready...)
	return rules.NewSet(ready, rules.Options{Home: s.options.Home, Modes: s.states, Checks: s.options.Checks})
}

// batch is a few stored calls in their order.
type batch struct {
	first int
	list  []countedEntry
}

// countedEntry is a stored call, with what happened in its turn before, if that is
// known.
type countedEntry struct {
	text    []byte
	counts  facts.Counts
	counted bool
}

// feeder hands stored calls out in batches.
type feeder struct {
	to        chan<- batch
	progress  func(int)
	counts    *orderedCounts // nil: no rule asks for counts
	evaluates func(event.Kind) bool
}

func (f *feeder) all(entries iter.Seq2[[]byte, error]) error {
	n := 0
	next := batch{}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		one := countedEntry{text: entry}
		if f.counts != nil {
			var kind event.Kind
			if one.counts, one.counted, kind = f.counts.observe(entry); kind != "" && !f.evaluates(kind) {
				continue // it was only counted
			}
		}
		next.list = append(next.list, one)
		if n++; len(next.list) == batchSize {
			f.to <- next
			next = batch{first: n}
			if f.progress != nil {
				f.progress(n)
			}
		}
	}
	if len(next.list) > 0 {
		f.to <- next
	}
	return nil
}

// worker evaluates calls, with its own state.
type worker struct {
	*Options
	sets   *ruleSets
	report *Report
	places map[string]place
	starts map[turnKey]sessionStart
	// scripts are the commands that were read last: agents repeat themselves.
	scripts shell.Cache
	err     error
}

// place is what a folder belongs to.
type place struct {
	project string // whose rules apply
	group   string // under which its calls are counted
	set     *rules.Set
}

func newWorker(o *Options, sets *ruleSets) *worker {
	return &worker{Options: o, sets: sets, report: newReport(), places: map[string]place{},
		starts: map[turnKey]sessionStart{}}
}

func (w *worker) work(batches <-chan batch) {
	for b := range batches {
		for i := range b.list {
			w.replay(b.list[i], b.first+i)
		}
	}
}

// storedCall is an entry of the journal, read as far as it is needed.
type storedCall struct {
	event     event.Event
	duplicate bool
	happened  string // what was decided, as a word
}

// readEntry reads an entry. Its event is read from the payload by the catalogue as it
// is now.
func readEntry(catalogue *agent.Catalogue, entry []byte) (*storedCall, error) {
	call := &storedCall{happened: event.None.Word()}
	var stored []byte
	err := jsontext.Object(entry, func(key, value []byte) bool {
		switch string(key) {
		case "event":
			stored = value
		case "outcome":
			duplicate, _ := jsontext.String(jsontext.Get(value, "twin"))
			call.duplicate = duplicate != ""
			if verdict, ok := jsontext.String(jsontext.Get(value, "decision", "verdict")); ok {
				call.happened = verdict
			}
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("an entry of the journal cannot be read: %w", err)
	}
	texts := map[string]string{}
	in := agent.Input{}
	nested := false
	err = jsontext.Object(stored, func(key, value []byte) bool {
		switch string(key) {
		case "raw":
			in.Payload = value
		case "truncated":
			in.Truncated = string(value) == "true"
		case "nested":
			nested = string(value) == "true"
		case "id", "time", "agent", "agentVersion", "kind", "native", "cwd":
			texts[string(key)], _ = jsontext.String(value)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("an event of the journal cannot be read: %w", err)
	}
	in.ID, in.Agent, in.Event, in.Cwd = texts["id"], texts["agent"], texts["native"], texts["cwd"]
	if in.Time, err = time.Parse(time.RFC3339Nano, texts["time"]); err != nil {
		return nil, fmt.Errorf("an event of the journal has no time: %w", err)
	}
	call.event = catalogue.Decode(in)
	ev := &call.event
	ev.Agent, ev.Native, ev.Kind = in.Agent, in.Event, event.Kind(texts["kind"])
	ev.AgentVersion, ev.Nested = texts["agentVersion"], nested
	return call, nil
}

func (w *worker) replay(entry countedEntry, number int) {
	call, err := readEntry(w.Catalogue, entry.text)
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	ev := &call.event
	at := w.placeOf(ev.Cwd)
	if w.Keep != nil && !w.Keep(ev, at.group) {
		return
	}
	w.report.Scanned++
	w.report.note(ev.Time)
	if call.duplicate {
		w.report.Duplicates++
		return
	}
	w.report.add(w.evaluate(ev, at, entry), recordedCall{
		number: number, ID: ev.ID, Time: ev.Time, Agent: ev.Agent, Project: at.group, Call: describeCall(ev),
		Happened: call.happened,
	})
}

// sessionStart is where a session started, or why that isn't known.
type sessionStart struct {
	folder string
	err    error
}

// startOf asks once where a session started.
func (w *worker) startOf(ev *event.Event) (string, error) {
	key := turnKey{ev.Agent, ev.Session}
	known, ok := w.starts[key]
	if !ok {
		if len(w.starts) >= maxGroups {
			clear(w.starts)
		}
		known.folder, known.err = w.StartOf(ev.Agent, ev.Session)
		w.starts[key] = known
	}
	return known.folder, known.err
}

func (w *worker) placeOf(cwd string) place {
	if at, ok := w.places[cwd]; ok {
		return at
	}
	var at place
	if w.FindProject != nil && cwd != "" {
		at.project = w.FindProject(cwd)
	}
	at.group = at.project
	if w.GroupOf != nil && cwd != "" {
		at.group = w.GroupOf(cwd)
	}
	if at.group == "" {
		at.group = cwd
	}
	at.set = w.sets.rulesIn(at.project)
	if len(w.places) >= maxGroups {
		clear(w.places)
	}
	w.places[cwd] = at
	return at
}

// describeCall returns what a call was about, on one line.
func describeCall(ev *event.Event) string {
	t := ev.Tool
	if t == nil {
		return ev.Native
	}
	for _, list := range [][]string{t.Commands, t.Writes, t.Reads, {t.URL}} {
		if i := slices.IndexFunc(list, func(s string) bool { return s != "" }); i >= 0 {
			return termsafe.CutMarked(t.Name+": "+list[i], longestCall)
		}
	}
	return t.Name
}
