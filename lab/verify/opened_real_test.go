package verify

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/looks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// An agent that is open and wasn't prompted is listed as idle in its pane; once it was, its
// session takes that place.
func TestRealOpened(t *testing.T) {
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "pi"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			st.InPane = true
			st.SetScript([]model.Step{{Say: testbed.LastWords}})
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			err := st.AtTerminal(context.Background(), looks.Of(name).Args,
				func(ctx context.Context, term *testbed.Terminal) error {
					only := func(what string, holds func(*wire.Session) bool) *wire.Session {
						t.Helper()
						var list []wire.Session
						for {
							list = nil
							if err := st.Daemon.CallMethod(wire.MethodSessions, wire.SessionsParams{}, &list); err != nil {
								t.Fatal(err)
							}
							if len(list) == 1 && holds(&list[0]) {
								return &list[0]
							}
							if !testbed.PauseFor(ctx, 200*time.Millisecond) {
								t.Fatalf("never: %s; listed is %+v\n%s", what, list, term.CaptureScreen(ctx))
							}
						}
					}
					one := only("it is idle in its pane", func(s *wire.Session) bool {
						return s.Agent == name && s.Status == wire.StatusIdle && s.Pane != "" && s.Turns == 0
					})
					t.Logf("before its first prompt: %s %s in %s", one.ID, one.Status, one.Pane)
					for !looks.Of(name).IsReady(term.CaptureScreen(ctx)) {
						if !testbed.PauseFor(ctx, 200*time.Millisecond) {
							t.Fatalf("it doesn't show its prompt\n%s", term.CaptureScreen(ctx))
						}
					}
					term.AwaitStillness(ctx)
					if err := term.TypeLine(ctx, testbed.MarkedPrompt("Say it")); err != nil {
						return err
					}
					done := only("its turn is over", func(s *wire.Session) bool { return s.Status == wire.StatusDone })
					if done.Pane != one.Pane {
						t.Errorf("it is in %q now, and was in %q", done.Pane, one.Pane)
					}
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
