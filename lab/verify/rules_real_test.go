package verify

import (
	"context"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// testBedRules is a file of a person's, which nobody accepted: what it refuses counts
// all the same.
const testBedRules = `version: 1
rules:
  - id: not-this-file
    why: a person keeps this file
    match: {path: "**/ran-refused", access: change}
    decide: deny
    examples:
      hit: [echo x > /home/me/ran-refused]
      miss: [echo x > /home/me/ran-passed]
`

// A rule stops the call of a real agent, and the call before it runs.
func TestRealRules(t *testing.T) {
	for _, name := range drivers.Names() {
		t.Run(name, func(t *testing.T) {
			agentstest.Require(t, name)
			st := realTestBed(t, name)
			writePersonFile(t, st.Dirs.Config, "rules/mine.yaml", testBedRules)
			calls := []model.ToolCall{st.TaggedCall("passed"), st.TaggedCall("refused")}
			st.SetScript(append(testbed.CallSteps(calls...), model.Step{Say: testbed.LastWords}))
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			err := st.RunHeadless(context.Background(), st.AgentCommand(), st.FreeCommand("Run both"))
			if !st.LeftItsFile("passed") {
				t.Fatalf("the call that no rule is about did not run: %v", err)
			}
			if st.LeftItsFile("refused") {
				t.Error("the call that a rule refuses ran")
			}
			await.Until(t, "the refusal is in the journal, with the rule", func() bool {
				found := false
				if err := readJournal(st, func(e client.Entry) {
					found = found || e.Outcome != nil && strings.Contains(string(e.Outcome.Decision), `"not-this-file"`)
				}); err != nil {
					t.Fatal(err)
				}
				return found
			})
		})
	}
}
