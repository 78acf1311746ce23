package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/ownconfig"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Target is an agent's program to be asked.
type Target struct {
	Name string
	In   realagents.Installed
}

// Options of a run.
type Options struct {
	Targets   []Target
	Bin       string   // folder of hookmux and hookmux-hook
	Checks    []string // rows, checks or events; empty: all
	Mine      *ownconfig.Config
	Keep      bool
	Record    string // folder to record into; empty: don't
	Isolation string // for the report
	Parallel  int    // runs at a time; 0 means 2
	Patience  time.Duration
	Progress  func(line string) // may be nil
	Breakage  *testbed.Breakage
}

// Report holds the results of a run.
type Report struct {
	Isolation string         `json:"isolation"`
	Took      Seconds        `json:"seconds"`
	Kept      string         `json:"kept,omitempty"`
	Agents    []*AgentReport `json:"agents"`
}

// AgentReport holds what is known about one agent now.
type AgentReport struct {
	Agent   string `json:"agent"`
	Title   string `json:"title"`
	Version string `json:"version"`
	Tried   string `json:"catalogueVersion,omitempty"`
	Program string `json:"program"`
	Problem string `json:"problem,omitempty"` // why nothing could be asked
	// Launches is the number of runs that were really run.
	Launches int     `json:"launches"`
	Headless int     `json:"headless"`        // of these, without a terminal
	Again    int     `json:"again,omitempty"` // runs run a second time for lack of time; not among the launches
	Took     Seconds `json:"seconds"`         // of all launches together
	// TookHeadless is the part of those without a terminal.
	TookHeadless Seconds  `json:"headlessSeconds"`
	Notes        []string `json:"notes,omitempty"`
	Rows         []Row    `json:"checks"`

	runs []*testbed.Evidence
}

// Seconds is a duration in a unit that is easy to compare.
type Seconds time.Duration

// MarshalJSON writes tenths of seconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.1f", time.Duration(s).Seconds()), nil
}

// Failed reports whether something that the catalogue claims does not hold.
func (r *Report) Failed() bool {
	for _, a := range r.Agents {
		if a.Problem != "" {
			return true
		}
		for _, row := range a.Rows {
			if row.Mark == checks.Fails && row.Claimed {
				return true
			}
		}
	}
	return false
}

// Count returns how many rows have a mark.
func (r *AgentReport) Count(m checks.Mark) int {
	n := 0
	for _, row := range r.Rows {
		if row.Mark == m {
			n++
		}
	}
	return n
}

// job is one run of one agent.
type job struct {
	report *AgentReport
	set    *testbed.Setting
	run    checks.AgentRun
	again  bool // it was run before, and there was not enough time
}

// newProofs are empty proofs for each agent of a report.
func newProofs(report *Report, mine bool) map[*AgentReport]*checks.Proof {
	proofs := map[*AgentReport]*checks.Proof{}
	for _, r := range report.Agents {
		known, _ := agent.Builtin().Agent(r.Agent)
		proofs[r] = &checks.Proof{
			Agent:    known,
			Version:  r.Version,
			Mine:     mine,
			Evidence: map[string]*testbed.Evidence{},
		}
	}
	return proofs
}

// Run asks every target. Runs of all agents share the machine's few cores;
// which runs are needed follows from the checks that were asked for.
func Run(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	if o.Parallel <= 0 {
		o.Parallel = 2
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Record != "" && len(o.Checks) > 0 {
		return nil, errors.New("a record of some checks would pass for one of all; record without --check")
	}
	report := &Report{Isolation: o.Isolation}
	if o.Keep {
		var err error
		if report.Kept, err = os.MkdirTemp("", "hookmux-verify-"); err != nil {
			return nil, err
		}
	}
	var serial atomic.Int64
	tasks := map[*AgentReport][]task{}
	var jobs []job
	var models []*model.Server
	defer func() {
		for _, m := range models {
			m.Close()
		}
	}()
	for _, target := range o.Targets {
		driver, ok := drivers.Find(target.Name)
		if !ok {
			return nil, fmt.Errorf("%s: no driver; known are %s", target.Name, strings.Join(drivers.Names(), " "))
		}
		table := drivers.TableOf(target.Name)
		r := &AgentReport{Agent: target.Name, Title: table.Title, Program: strings.Join(target.In.Argv, " ")}
		report.Agents = append(report.Agents, r)
		srv, err := model.Start(model.Options{Delay: table.ModelDelay})
		if err != nil {
			return nil, err
		}
		models = append(models, srv)
		set := &testbed.Setting{
			Driver: driver, In: target.In, Bin: o.Bin, Model: srv, Mine: o.Mine, Breakage: o.Breakage,
			Patience: o.Patience,
			Serial:   func() string { return fmt.Sprint(serial.Add(1)) },
		}
		asked := time.Now()
		if r.Version, err = askVersion(ctx, set); err != nil {
			r.Problem = err.Error()
			continue
		}
		if set.Patience == 0 {
			set.Patience = patienceFor(time.Since(asked))
		}
		a, known := agent.Builtin().Agent(target.Name)
		if !known || !driver.Run && a.Install == nil {
			return nil, fmt.Errorf("%s: hookmux cannot write itself into it, so nothing can be asked", target.Name)
		}
		r.Tried = a.Tried
		tasks[r] = plan(a, driver, o.Checks)
		if o.Mine != nil {
			r.Notes = append(r.Notes, o.Mine.TakenNotes(a)...)
		}
		for _, name := range runsOf(tasks[r]) {
			if run, ok := checks.RunNamed(name); ok {
				jobs = append(jobs, job{report: r, set: set, run: run})
			}
		}
	}
	proofs := newProofs(report, o.Mine != nil)
	executeAll(ctx, jobs, &o, report, proofs)
	if late := secondChances(jobs, tasks, proofs); o.Breakage == nil && ctx.Err() == nil {
		o.Parallel = 1
		executeAll(ctx, late, &o, report, proofs)
	}
	for _, r := range report.Agents {
		if r.Problem != "" {
			continue
		}
		r.evaluateTasks(tasks[r], proofs[r], o.Checks)
		if o.Record != "" && ctx.Err() == nil {
			if err := r.record(o.Record, o.Isolation, r.runs); err != nil {
				return report, err
			}
		}
	}
	report.Took = Seconds(time.Since(began))
	return report, ctx.Err()
}

// evaluateTasks turns what was seen into rows.
func (r *AgentReport) evaluateTasks(tasks []task, p *checks.Proof, chosen []string) {
	for _, t := range tasks {
		t.evaluate(p)
		r.Rows = append(r.Rows, t.row)
	}
	r.Rows = append(r.Rows, addUnanswered(r.Rows, chosen)...)
}

// runsOf returns the runs that rows need, in the order of the built-in list.
func runsOf(tasks []task) []string {
	needed := map[string]bool{}
	for _, t := range tasks {
		if t.check == nil {
			continue
		}
		for _, name := range t.check.Runs {
			needed[name] = true
		}
		// What looks at every run wants the one that must bring its event
		// about; the others are looked at when they are run anyway.
		if t.check.Any && t.subject.Event != nil {
			if run := checks.BringsAbout(t.subject); run != "" {
				needed[run] = true
			}
		}
	}
	var out []string
	for _, a := range checks.AllRuns() {
		if needed[a.Name] {
			out = append(out, a.Name)
		}
	}
	return out
}

// agentNames returns the agents that are asked.
func agentNames(report *Report) string {
	var names []string
	for _, a := range report.Agents {
		if a.Problem == "" {
			names = append(names, a.Agent)
		}
	}
	return strings.Join(names, ", ")
}

func countTurns(n int) string {
	if n == 1 {
		return "one turn"
	}
	return fmt.Sprintf("%d turns", n)
}

func executeAll(ctx context.Context, jobs []job, o *Options, report *Report, proofs map[*AgentReport]*checks.Proof) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, o.Parallel)
	if n := len(jobs); n > 0 { // the first one takes seconds
		o.Progress(fmt.Sprintf("testing %s, in %s …", agentNames(report), countTurns(n)))
	}
	for _, j := range jobs {
		slots <- struct{}{}
		if ctx.Err() != nil {
			<-slots
			break
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			e := executeRun(ctx, j.set, j.run, o.Keep)
			mu.Lock()
			defer mu.Unlock()
			if o.Keep && e.Folder != "" {
				if at := moveKept(e.Folder, report.Kept, j.report.Agent+"-"+j.run.Name, os.Rename); at == e.Folder {
					j.report.Notes = append(j.report.Notes, "what was kept of the act "+j.run.Name+" stays in "+at)
				}
			}
			proofs[j.report].Evidence[j.run.Name] = e
			if e.Missing == "" {
				if j.again {
					j.report.Again++
					j.report.runs = slices.DeleteFunc(j.report.runs,
						func(was *testbed.Evidence) bool { return was.Run == e.Run })
					j.report.Notes = append(j.report.Notes, "not enough time for "+j.run.What+
						", as on a busy machine; it was played again, alone")
				} else {
					j.report.Launches++
				}
				if len(e.Screens) == 0 && !j.again {
					j.report.Headless++
					j.report.TookHeadless += Seconds(e.Took)
				}
				j.report.Took += Seconds(e.Took)
				j.report.runs = append(j.report.runs, e)
				o.Progress(fmt.Sprintf("%s: %s, %.1f s%s", j.report.Agent, j.run.What, e.Took.Seconds(), problemOf(e)))
			}
		}()
	}
	wg.Wait()
	for _, r := range report.Agents {
		checks.SortRuns(r.runs)
	}
}

func problemOf(e *testbed.Evidence) string {
	if e.Err != nil {
		return ": " + testbed.ClipText(e.Err.Error())
	}
	return ""
}

var versionPattern = lazyregexp.New(`\d+\.\d+(\.\d+)?[0-9A-Za-z.+-]*`)

// askVersion starts the agent once, in a home of its own.
func askVersion(ctx context.Context, s *testbed.Setting) (string, error) {
	st, err := testbed.New(s, "version")
	if err != nil {
		return "", err
	}
	defer testbed.RemoveAll(st.Base)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	in := st.In
	in.Env = nil
	r, err := realagents.Run(ctx, in, st.Env, st.Home, "--version")
	st.ClearUp()
	if err != nil {
		return "", err
	}
	if r.Exit != 0 {
		return "", fmt.Errorf("%s: --version ended with code %d and said %q; start %s by hand and fix what it "+
			"complains about", s.Driver.Name, r.Exit, testbed.ClipText(r.Stderr+" "+r.Stdout),
			filepath.Base(s.In.Argv[0]))
	}
	v := strings.TrimRight(versionPattern.FindString(r.Stdout+r.Stderr), ".-+")
	if v == "" {
		return "", fmt.Errorf("%s: --version says %q; is %s the agent's own program?", s.Driver.Name,
			testbed.ClipText(r.Stdout+r.Stderr), filepath.Base(s.In.Argv[0]))
	}
	return v, nil
}

// addUnanswered adds a row for each check that was asked for and that an agent has none of: silence
// could be taken for a yes.
func addUnanswered(rows []Row, wanted []string) []Row {
	var out []Row
	for _, w := range wanted {
		if slices.ContainsFunc(rows, func(r Row) bool { return matches(r, w) }) {
			continue
		}
		out = append(out, Row{Check: w, Result: checks.UnsureBecause("nothing of the kind is claimed for this agent")})
	}
	return out
}
