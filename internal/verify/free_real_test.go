package verify

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/verify/agents/agentstest"
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// TestRealFree: an agent that was told to ask nobody is held by nobody, also
// while somebody follows the feed: it would not have asked.
func TestRealFree(t *testing.T) {
	for _, name := range Drivers() {
		if a, ok := agent.Builtin().Agent(name); !ok || a.Feed == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			agentstest.Require(t, name)
			st := realStage(t, name)
			st.setScript([]model.Step{{Calls: []model.ToolCall{st.taggedCall("free")}}, {Say: lastWords}})
			if err := st.startHubWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			st.hub.Sink(true)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() { // what is asked all the same is let go, so that the run ends
				for pauseFor(ctx, 100*time.Millisecond) {
					var items []wire.FeedItem
					_ = st.hub.Do(wire.MethodFeedItems, wire.FeedListParams{}, &items)
					for _, item := range items {
						_ = st.hub.Do(wire.MethodFeedRelease, wire.FeedIDParams{ID: item.ID}, nil)
					}
				}
			}()
			if err := st.runHeadless(ctx, st.start(), st.freeCommand("Run it")); err != nil {
				t.Fatal(err)
			}
			if !st.leftItsFile("free") {
				t.Error("the command did not run")
			}
			var items []wire.FeedItem
			if err := st.hub.Do(wire.MethodFeedItems, wire.FeedListParams{All: true}, &items); err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				t.Errorf("a person was asked: %s %s", item.Event, item.Shown)
			}
		})
	}
}
