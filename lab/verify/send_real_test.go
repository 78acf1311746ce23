package verify

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Text that is sent to a session of an agent with a plugin is a
// prompt there, and starts a turn.
func TestRealSend(t *testing.T) {
	for _, name := range []string{"pi", "opencode"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			st.SetScript([]model.Step{{Say: testbed.LastWords}})
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			ended := func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Subagent == nil }
			err := st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Say it"), false),
				func(ctx context.Context, term *testbed.Terminal) error {
					if !st.Watcher.WaitForOne(ctx, ended) {
						t.Fatalf("the first turn did not end\n%s", term.CaptureScreen(ctx))
					}
					session := st.Watcher.AllSeen()[0].Event.Session
					if ok, err := st.Daemon.Send(name, "no-such-session", "nobody hears this"); ok || err != nil {
						t.Errorf("to nobody: %v %v; want !ok and no error", ok, err)
					}
					var ok bool
					var err error
					for range 50 {
						if ok, err = st.Daemon.Send(name, session, "Help with it "+model.Mark("sub")); ok || err != nil ||
							!testbed.PauseFor(ctx, 100*time.Millisecond) {
							break
						}
					}
					if !ok || err != nil {
						t.Fatalf("not delivered: %v; want ok and no error", err)
					}
					if !st.Watcher.WaitFor(ctx, 2, ended) {
						t.Errorf("the second turn did not end\n%s", term.CaptureScreen(ctx))
					}
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			if !st.LeftItsFile("sub") {
				t.Error("what was asked for did not run")
			}
			prompts := 0
			for _, x := range st.Watcher.AllSeen() {
				if x.Event.Kind == event.TurnStart {
					prompts++
				}
			}
			if prompts != 2 {
				t.Errorf("%d prompts, want 2", prompts)
			}
		})
	}
}
