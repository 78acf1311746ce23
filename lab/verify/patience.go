package verify

import (
	"maps"
	"slices"
	"time"

	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// How long agents are waited for. A machine that has too much to do must not
// look like an agent that does not do what it should.

const (
	leastPatience = 100 * time.Second
	mostPatience  = 5 * time.Minute
	// perStart: a run takes far less than this many starts for the version.
	perStart = 60
)

// patienceFor returns how long a run may take if a start for the version took that long.
func patienceFor(start time.Duration) time.Duration {
	return min(max(leastPatience, perStart*start), mostPatience)
}

// secondChances returns the runs for which there was not enough time and about
// which something does not hold: each is run once more, alone and with twice
// the time. An agent that never came to an end hangs, and has none.
func secondChances(jobs []job, tasks map[*AgentReport][]task, proofs map[*AgentReport]*checks.Proof) []job {
	var out []job
	for _, j := range jobs {
		p := proofs[j.report]
		e := p.Of(j.run.Name)
		if !e.Late ||
			!slices.ContainsFunc(slices.Collect(maps.Values(p.Evidence)),
				func(e *testbed.Evidence) bool { return e.Missing == "" && !e.Late }) {
			continue
		}
		fails := slices.ContainsFunc(tasks[j.report], func(t task) bool {
			return slices.Contains(t.runNames(), j.run.Name) && t.result(p).Mark == checks.Fails
		})
		if !fails {
			continue
		}
		set := *j.set
		set.Patience *= 2
		out = append(out, job{report: j.report, set: &set, run: j.run, again: true})
	}
	return out
}
