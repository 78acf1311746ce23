package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/looks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Agents that ask at their own prompt are answered from elsewhere by keys: what is approved
// runs, what is denied does not, and a second answer finds nothing to answer.
func TestRealKeystrokes(t *testing.T) {
	for _, name := range []string{"gemini", "codex", "claude"} {
		for _, columns := range []int{80, 200} {
			t.Run(fmt.Sprintf("%s/%d", name, columns), func(t *testing.T) {
				st := realTestBed(t, name)
				st.InPane, st.Columns, st.Lines = true, columns, 40
				st.Patience = max(st.Patience, 3*time.Minute)
				call := func(command string) model.Step {
					return model.Step{Calls: []model.ToolCall{st.EscalateCall(st.Table.Shell.Call(command))}}
				}
				st.SetScript([]model.Step{
					call("touch ran-1; echo 'words that have to be wrapped because eighty columns are not enough' | cat"),
					call("touch ran-2"), {Say: testbed.LastWords},
				})
				if err := st.StartDaemonWithHooks(nil); err != nil {
					t.Fatal(err)
				}
				st.Env = append(st.Env, st.Driver.StrictEnv...)
				ran := func(n int) bool {
					_, err := os.Stat(filepath.Join(st.Project, fmt.Sprintf("ran-%d", n)))
					return err == nil
				}
				// Nobody answers what hookmux holds, so that the agent asks by itself.
				err := st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Run it"), true),
					func(ctx context.Context, term *testbed.Terminal) error {
						item := awaitWindow(ctx, t, st, term, "touch ran-1")
						reply := func(choice string) wire.InboxReplyResult {
							var result wire.InboxReplyResult
							if err := st.Daemon.CallMethod(wire.MethodInboxReply, wire.InboxReplyParams{ID: item.ID,
								Choice: choice, SHA256: item.SHA256}, &result); err != nil {
								result.Why = err.Error()
							}
							return result
						}
						if got := reply("always"); got.Outcome == wire.ReplyDelivered {
							t.Errorf("always was delivered: %+v", got)
						}
						if got := reply("once"); got.Outcome != wire.ReplyDelivered {
							t.Fatalf("approve: %s %s\n%s", got.Outcome, got.Why, term.CaptureScreen(ctx))
						}
						if got := reply("once"); got.Outcome == wire.ReplyDelivered {
							t.Errorf("a second answer was delivered: %+v", got)
						}
						for !ran(1) {
							if !testbed.PauseFor(ctx, 50*time.Millisecond) {
								t.Fatalf("what was approved did not run\n%s", term.CaptureScreen(ctx))
							}
						}
						item = awaitWindow(ctx, t, st, term, "touch ran-2")
						if got := reply("deny"); got.Outcome != wire.ReplyDelivered {
							t.Fatalf("deny: %s %s\n%s", got.Outcome, got.Why, term.CaptureScreen(ctx))
						}
						for looks.Of(name).ShowsDialog(term.CaptureScreen(ctx)) {
							if !testbed.PauseFor(ctx, 50*time.Millisecond) {
								t.Fatalf("the dialog is still there\n%s", term.CaptureScreen(ctx))
							}
						}
						return nil
					})
				if err != nil {
					t.Fatal(err)
				}
				if ran(2) {
					t.Error("what was denied ran")
				}
			})
		}
	}
}

// awaitWindow waits until keys can answer a command, and until its dialog is drawn.
func awaitWindow(ctx context.Context, t *testing.T, st *testbed.TestBed, term *testbed.Terminal,
	command string) wire.InboxRequest {
	t.Helper()
	var list []wire.InboxRequest
	for {
		list = nil
		if err := st.Daemon.CallMethod(wire.MethodInboxItems, wire.InboxListParams{Prompts: true}, &list); err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 && list[0].Status == wire.InboxPending { // as one that waited too long
			var released wire.InboxReplyResult
			if err := st.Daemon.CallMethod(wire.MethodInboxSkip, wire.InboxIDParams{ID: list[0].ID},
				&released); err != nil {
				t.Fatal(err)
			}
		}
		if len(list) == 1 && list[0].Status == wire.InboxPrompt && list[0].Answerable() &&
			looks.Of(st.Driver.Name).ShowsDialog(term.CaptureScreen(ctx)) && containsCommand(&list[0], command) {
			term.AwaitStillness(ctx)
			return list[0]
		}
		if !testbed.PauseFor(ctx, 100*time.Millisecond) {
			t.Fatalf("no window asks about %q that keys answer: %+v\n%s", command, list, term.CaptureScreen(ctx))
		}
	}
}

func containsCommand(item *wire.InboxRequest, command string) bool {
	for line := range wire.CardLines(item.Shown) {
		if line.Kind == wire.CommandLine && strings.HasPrefix(line.Command(), command) {
			return true
		}
	}
	return false
}
