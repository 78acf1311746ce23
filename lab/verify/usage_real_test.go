package verify

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// testBedBudget is reached with the second answer of the scripted model, which reports
// 1,200 tokens for each prompt.
const testBedBudget = `{"usage.budgets": ["session=2000tokens block=100%"]}`

// budgetTokens is what the budget allows.
const budgetTokens = 2000

// isUsedUp waits until hookmux knows that a session has used up its budget.
func isUsedUp(ctx context.Context, st *testbed.TestBed) bool {
	for {
		var list []wire.Session
		if err := st.Daemon.CallMethod(wire.MethodSessions, wire.SessionsParams{}, &list); err != nil {
			return false
		}
		if slices.ContainsFunc(list, func(one wire.Session) bool { return one.Usage != nil && one.Usage.Tokens >= budgetTokens }) {
			return true
		}
		if !testbed.PauseFor(ctx, 50*time.Millisecond) {
			return false
		}
	}
}

// refusal is why, as the agent shows it.
const refusal = "of this session's budget is used"

// A budget stops the next call of a real agent once its records say that it is used up,
// and the agent shows why.
func TestRealBudget(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			agentstest.Require(t, name)
			st := realTestBed(t, name)
			writePersonFile(t, st.Dirs.Config, "config.json", testBedBudget)
			steps := testbed.CallSteps(st.TaggedCall("passed"), st.TaggedCall("second"), st.TaggedCall("refused"))
			steps[2].Until = func(ctx context.Context) bool { return isUsedUp(ctx, st) }
			st.SetScript(append(steps, model.Step{Say: testbed.LastWords}))
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			err := st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Run all three"), false),
				func(ctx context.Context, term *testbed.Terminal) error {
					if !term.AwaitText(ctx, refusal) {
						t.Errorf("the screen does not say why the call was refused:\n%s", term.CaptureScreen(ctx))
					}
					// The agent shows the refusal before it sends it to the model.
					if !term.AwaitText(ctx, testbed.LastWords) {
						t.Errorf("the turn does not go on after the refusal:\n%s", term.CaptureScreen(ctx))
					}
					return nil
				})
			if !st.LeftItsFile("passed") {
				t.Fatalf("the call within the budget did not run: %v", err)
			}
			if st.LeftItsFile("refused") {
				t.Error("the call beyond the budget ran")
			}
			await.Until(t, "the refusal is in the journal, with the budget", func() bool {
				found := false
				if err := readJournal(st, func(e client.Entry) {
					found = found || e.Outcome != nil && strings.Contains(string(e.Outcome.Decision), `budget/session-2000tokens`)
				}); err != nil {
					t.Fatal(err)
				}
				return found
			})
			if e := st.CollectEvidence(err, began); !e.Saw(refusal) {
				t.Errorf("the model was not told why: %q", refusal)
			}
		})
	}
}
