package verify

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// An agent that was told to ask nobody is never kept waiting, also
// while somebody follows the inbox: it would not have asked.
func TestRealFree(t *testing.T) {
	for _, name := range drivers.Names() {
		if a, ok := agent.Builtin().Agent(name); !ok || a.Inbox == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			agentstest.Require(t, name)
			st := realTestBed(t, name)
			st.SetScript([]model.Step{{Calls: []model.ToolCall{st.TaggedCall("free")}}, {Say: testbed.LastWords}})
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			st.Daemon.CountSink(true)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() { // what is asked all the same is let go, so that the run ends
				for testbed.PauseFor(ctx, 100*time.Millisecond) {
					var items []wire.InboxRequest
					_ = st.Daemon.CallMethod(wire.MethodInboxItems, wire.InboxListParams{}, &items)
					for _, item := range items {
						_ = st.Daemon.CallMethod(wire.MethodInboxSkip, wire.InboxIDParams{ID: item.ID}, nil)
					}
				}
			}()
			if err := st.RunHeadless(ctx, st.AgentCommand(), st.FreeCommand("Run it")); err != nil {
				t.Fatal(err)
			}
			if !st.LeftItsFile("free") {
				t.Error("the command did not run")
			}
			var items []wire.InboxRequest
			if err := st.Daemon.CallMethod(wire.MethodInboxItems, wire.InboxListParams{All: true}, &items); err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				t.Errorf("a person was asked: %s %s", item.Event, item.Shown)
			}
		})
	}
}
