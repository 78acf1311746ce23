package verify

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// holder keeps permission requests waiting, as the inbox does.
type holder struct {
	asked chan event.Event
	ended chan time.Time
	let   chan struct{}
}

func (h *holder) Handle(ctx context.Context, call *hook.Call) (event.Decision, error) {
	if call.Event.Kind != event.PermissionRequest {
		return event.Decision{}, nil
	}
	h.asked <- *call.Event
	select {
	case <-ctx.Done():
	case <-h.let:
	}
	h.ended <- time.Now()
	return event.Decision{}, nil
}

// What shows first that a person answered in Claude
// Code's own dialog while a hook still waits. The catalogue builds on it: the
// status file tells at once, the transcript only when the tool has ended.
func TestRealClaudeWindow(t *testing.T) {
	agentstest.Repeats(t, "the row inbox-window")
	for _, c := range []struct{ name, key string }{{"yes", "Enter"}, {"no", "Escape"}} {
		t.Run(c.name, func(t *testing.T) {
			st := realTestBed(t, "claude")
			st.Patience = 45 * time.Second
			h := &holder{make(chan event.Event, 8), make(chan time.Time, 8), make(chan struct{})}
			entry, err := hook.NewEntry(hook.Registration{ID: "holder", Agent: hook.Any, HookType: hook.Any,
				Handler: "builtin", Target: "holder", Role: hook.Guard}, h, "global")
			if err != nil {
				t.Fatal(err)
			}
			st.Extra = append(st.Extra, entry)
			// It runs for a while, so that its start and its end are told apart.
			st.SetScript([]model.Step{{Calls: []model.ToolCall{st.Table.Shell.Call(
				"touch ran-window; sleep 3; echo out-window")}}, {Say: testbed.LastWords}})
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			err = st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Run it"), true),
				func(ctx context.Context, term *testbed.Terminal) error {
					defer close(h.let)
					var ev event.Event
					select {
					case ev = <-h.asked:
					case <-ctx.Done():
						t.Fatal("no request came")
					}
					state := filepath.Join(filepath.Dir(ev.Transcript), "../../sessions",
						strconv.Itoa(ev.Where.PID)+".json")
					in := func(file, words string) func() bool {
						return func() bool {
							b, _ := os.ReadFile(file)
							return bytes.Contains(b, []byte(words))
						}
					}
					await := func(what string, is func() bool) time.Time {
						for !is() {
							if !testbed.PauseFor(ctx, 5*time.Millisecond) {
								t.Fatalf("%s: never (%s, pane %d); want testbed.PauseFor(ctx, 5*time.Millisecond)",
									what, state, term.PID)
							}
						}
						return time.Now()
					}
					await("the status says that it waits", in(state, `"status":"waiting"`))
					await("the call is in the transcript while the dialog is open",
						in(ev.Transcript, `"type":"tool_use"`))
					term.AwaitText(ctx, "Do you want to proceed")
					if in(ev.Transcript, `"tool_result"`)() || st.LeftItsFile("window") {
						t.Error("it ran before anybody answered")
					}
					pressed := time.Now()
					if err := term.PressKeys(ctx, c.key); err != nil {
						return err
					}
					left := await("the status says that it waits no more",
						func() bool { return !in(state, `"status":"waiting"`)() && in(state, `"status":`)() })
					if c.name == "no" {
						select {
						case at := <-h.ended:
							t.Logf("the hook was ended %v after the key, the status %v", at.Sub(pressed),
								left.Sub(pressed))
						case <-ctx.Done():
							t.Error("the hook was not ended by a No")
						}
						return nil
					}
					if in(ev.Transcript, `"tool_result"`)() {
						t.Error("the transcript told no later than the status: the catalogue can be simpler")
					}
					st.Watcher.WaitForOne(ctx, func(ev *event.Event) bool { return ev.Kind == event.ToolAfter })
					after := time.Now()
					result := await("the result is in the transcript", in(ev.Transcript, `"tool_result"`))
					t.Logf("after the key: status %v, PostToolUse %v, transcript %v", left.Sub(pressed),
						after.Sub(pressed),
						result.Sub(pressed))
					if left.Sub(pressed) > time.Second || !after.After(left) {
						t.Errorf("the status came %v after the key, PostToolUse %v", left.Sub(pressed),
							after.Sub(pressed))
					}
					select {
					case <-h.ended:
						t.Error("the hook was ended by a Yes")
					default:
					}
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
