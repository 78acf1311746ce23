package verify

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/verify/agents/agentstest"
	"github.com/hookmux/hookmux/internal/verify/drivers"
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/verify/testbed"
	"github.com/hookmux/hookmux/internal/wire"
)

// An agent that was told to ask nobody is held by nobody, also
// while somebody follows the feed: it would not have asked.
func TestRealFree(t *testing.T) {
	for _, name := range drivers.Names() {
		if a, ok := agent.Builtin().Agent(name); !ok || a.Feed == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			agentstest.Require(t, name)
			st := realTestBed(t, name)
			st.SetScript([]model.Step{{Calls: []model.ToolCall{st.TaggedCall("free")}}, {Say: testbed.LastWords}})
			if err := st.StartHubWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			st.Hub.CountSink(true)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() { // what is asked all the same is let go, so that the run ends
				for testbed.PauseFor(ctx, 100*time.Millisecond) {
					var items []wire.FeedItem
					_ = st.Hub.CallMethod(wire.MethodFeedItems, wire.FeedListParams{}, &items)
					for _, item := range items {
						_ = st.Hub.CallMethod(wire.MethodFeedRelease, wire.FeedIDParams{ID: item.ID}, nil)
					}
				}
			}()
			if err := st.RunHeadless(ctx, st.AgentCommand(), st.FreeCommand("Run it")); err != nil {
				t.Fatal(err)
			}
			if !st.LeftItsFile("free") {
				t.Error("the command did not run")
			}
			var items []wire.FeedItem
			if err := st.Hub.CallMethod(wire.MethodFeedItems, wire.FeedListParams{All: true}, &items); err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				t.Errorf("a person was asked: %s %s", item.Event, item.Shown)
			}
		})
	}
}
