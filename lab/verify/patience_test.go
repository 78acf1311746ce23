package verify

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

func TestPatienceFollowsTheMachine(t *testing.T) {
	for start, want := range map[time.Duration]time.Duration{
		0: leastPatience, time.Second: leastPatience, 3 * time.Second: 3 * time.Minute, time.Minute: mostPatience,
	} {
		if got := patienceFor(start); got != want {
			t.Errorf("%s: %s, want %s", start, got, want)
		}
	}
}

// Only what ran out of time and led to ✗ is run again, and only for an agent
// that comes to an end otherwise.
func TestSecondChances(t *testing.T) {
	a, _ := agent.Builtin().Agent("codex")
	d, _ := drivers.Find("codex")
	run := func(name string) checks.AgentRun { a, _ := checks.RunNamed(name); return a }
	for name, c := range map[string]struct {
		evidence map[string]*testbed.Evidence
		want     int
	}{
		"late and failed":         {map[string]*testbed.Evidence{"decide": {Late: true}, "observe": {}}, 1},
		"failed in time":          {map[string]*testbed.Evidence{"decide": {}, "observe": {}}, 0},
		"always late":             {map[string]*testbed.Evidence{"decide": {Late: true}, "observe": {Late: true}}, 0},
		"not to be played at all": {map[string]*testbed.Evidence{"decide": {Missing: "x"}, "observe": {}}, 0},
	} {
		r := &AgentReport{Agent: "codex"}
		set := &testbed.Setting{Patience: time.Minute}
		jobs := []job{{report: r, set: set, run: run("decide")}, {report: r, set: set, run: run("observe")}}
		got := secondChances(jobs, map[*AgentReport][]task{r: plan(a, d, nil)},
			map[*AgentReport]*checks.Proof{r: {Agent: a, Evidence: c.evidence}})
		if len(got) != c.want {
			t.Errorf("%s: %d played again, want %d", name, len(got), c.want)
		}
		for _, j := range got {
			if j.run.Name != "decide" || !j.again || j.set.Patience != 2*time.Minute || set.Patience != time.Minute {
				t.Errorf(`%s: j = %+v, want j.act.Name = "decide", j.again, j.set.Patience = 2 * time.Minute and `+
					`set.Patience = time.Minute`, name, j)
			}
		}
	}
}
