package verify

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Who sits at the agent reads at its own prompt that a call was blocked, and why.
func TestRealBlockedIsShown(t *testing.T) {
	for _, name := range []string{"gemini", "claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			st.Patience = max(st.Patience, 2*time.Minute)
			st.SetScript([]model.Step{{Calls: []model.ToolCall{st.Table.Shell.Call("touch ran-blocked")}},
				{Say: testbed.LastWords}})
			const reason = "the moon is full tonight"
			if err := st.StartDaemonWithHooks(func(ev *event.Event, _ int) event.Decision {
				if ev.Kind != event.ToolBefore {
					return event.Decision{}
				}
				return event.Decision{Verdict: event.Deny, Reason: reason}
			}); err != nil {
				t.Fatal(err)
			}
			err := st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Run it"), false),
				func(ctx context.Context, term *testbed.Terminal) error {
					if !term.AwaitText(ctx, reason) {
						t.Errorf("the screen does not say why the call was blocked:\n%s", term.CaptureScreen(ctx))
					}
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			if st.LeftItsFile("blocked") {
				t.Error("what was blocked ran")
			}
		})
	}
}
