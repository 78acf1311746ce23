package verify

import (
	"context"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// What ps shows of a real agent at a terminal, and that resume
// brings its conversation back.
func TestRealStatus(t *testing.T) {
	agentstest.Repeats(t, "the status rows of TestRealChecks")
	for _, name := range []string{"claude", "codex", "opencode", "pi", "grok"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			status, _ := checks.RunNamed("status")
			err := status.Execute(context.Background(), st)
			e := st.Evidence
			e.Err = err
			a, _ := agent.Builtin().Agent(name)
			p := &checks.Proof{Agent: a, Evidence: map[string]*testbed.Evidence{"status": e}}
			bad := err != nil
			for _, c := range checks.All() {
				if !strings.HasPrefix(c.ID, "status-") {
					continue
				}
				s := checks.Subject{Agent: a, Driver: st.Driver}
				if !c.Applies(s) {
					continue
				}
				r := c.Evaluate(p, s)
				t.Logf("%s %s %s", r.Mark, c.ID, r.Why)
				if r.Mark != checks.Holds {
					bad = true
				}
			}
			if bad {
				for _, screen := range e.Screens {
					t.Logf("screen:\n%s", squeeze(screen))
				}
				t.Errorf("status: %v; want !bad", err)
			}
		})
	}
}

// squeeze leaves the empty lines of a screen out.
func squeeze(screen string) string {
	var lines []string
	for _, line := range strings.Split(screen, "\n") {
		if line = strings.TrimRight(line, " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
