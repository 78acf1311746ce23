package verify

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Helpers of one session that ask at once are answered one
// by one. What is said about one of them is not taken for an answer in the
// agent's window to the others.
func TestRealHelpersAsk(t *testing.T) {
	st := realTestBed(t, "claude")
	tags := []string{"helper-a", "helper-b", "helper-c"}
	named, calls := map[string][]model.Step{}, []model.ToolCall{}
	for _, tag := range tags {
		// It runs for a while, so that the agent is busy with it when the next is
		// looked at.
		named[tag] = []model.Step{{Calls: []model.ToolCall{st.Table.Shell.Call("touch ran-" + tag +
			"; sleep 2; echo out-" + tag)}}, {Say: "Done."}, {Say: "Done again."}}
		calls = append(calls, st.Driver.Subagent("Help with it " + model.Mark(tag))[0].Calls...)
	}
	st.Model.SetScenario(st.Run, model.Scenario{Steps: []model.Step{{Calls: calls}, {Say: testbed.LastWords},
		{Say: testbed.LastWords}, {Say: testbed.LastWords}}, Named: named})
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	st.Daemon.CountSink(true)
	waiting := func() []wire.InboxRequest {
		var items []wire.InboxRequest
		if err := st.Daemon.CallMethod(wire.MethodInboxItems, wire.InboxListParams{}, &items); err != nil {
			t.Fatal(err)
		}
		return items
	}
	err := st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Run it"), true),
		func(ctx context.Context, _ *testbed.Terminal) error {
			most := 0
			for range tags {
				var items []wire.InboxRequest
				for c, cancel := context.WithTimeout(ctx, 15*time.Second); ; {
					if items = waiting(); len(items) > 0 || !testbed.PauseFor(c, 50*time.Millisecond) {
						cancel()
						break
					}
				}
				testbed.PauseFor(ctx, 1500*time.Millisecond) // the others come up meanwhile
				if items = waiting(); len(items) == 0 {
					break
				}
				most = max(most, len(items))
				var result wire.InboxReplyResult
				if err := st.Daemon.CallMethod(wire.MethodInboxReply,
					wire.InboxReplyParams{ID: items[0].ID, Choice: string(event.ChooseOnce)}, &result); err != nil {
					t.Error(err)
				}
				testbed.PauseFor(ctx, 1500*time.Millisecond) // longer than a sign must stay to be taken for an answer
				if now := len(waiting()); now < len(items)-1 {
					t.Errorf("one of %d was answered, and %d wait", len(items), now)
				}
			}
			if most < 2 {
				t.Errorf("%d asked at once, which shows nothing", most)
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	var all []wire.InboxRequest
	if err := st.Daemon.CallMethod(wire.MethodInboxItems, wire.InboxListParams{All: true}, &all); err != nil {
		t.Fatal(err)
	}
	for _, item := range all {
		if item.Decision == nil {
			t.Errorf("%s ended as: %s; want item.Decision != nil", strings.TrimSpace(item.Shown), item.End)
		}
	}
	for _, tag := range tags {
		if !st.LeftItsFile(tag) {
			t.Errorf("%s was not run", tag)
		}
	}
}
