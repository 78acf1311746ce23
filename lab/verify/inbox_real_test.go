package verify

import (
	"context"
	"testing"

	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
)

// Requests of real agents answered from elsewhere.
func TestRealInbox(t *testing.T) {
	agentstest.Repeats(t, "the inbox rows of TestRealChecks")
	for _, name := range drivers.Names() {
		d, _ := drivers.Find(name)
		if d.Prompts == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			in := agentstest.Require(t, name)
			ids := []string{"inbox-approve", "inbox-deny", "inbox-nobody", "inbox-window", "inbox-question",
				"inbox-window-question", "inbox-plan", "inbox-plan-mode", "inbox-form"}
			r, err := Run(context.Background(), Options{Targets: []Target{{name, in}}, Bin: builtBin(t), Checks: ids,
				Parallel: 1, Patience: agentstest.Timeout})
			if err != nil || r.Agents[0].Problem != "" {
				t.Fatalf(`error %v, r.Agents[0].Problem = %q; want no error and r.Agents[0].Problem = ""`,
					err, r.Agents[0].Problem)
			}
			proven := 0
			for _, row := range r.Agents[0].Rows {
				t.Logf("%s %s: %s", row.Mark, row.Check, row.Why)
				switch row.Mark {
				case checks.Fails:
					t.Errorf("%s fails: %s, seen %q; want it to hold", row.Check, row.Why, row.Seen)
				case checks.Holds:
					proven++
				}
			}
			if proven < 2 { // those about time need a machine that has time
				t.Errorf("only %d rows are proven", proven)
			}
		})
	}
}
