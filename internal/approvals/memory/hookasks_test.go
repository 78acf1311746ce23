package memory

import (
	"testing"

	"github.com/hookmux/hookmux/event"
)

func TestHookAsksServeOnce(t *testing.T) {
	var asks HookAsks
	byHook, byProxy := shellCall(`{"command":"npm test"}`), shellCall(`{"command":"npm test","description":"x"}`)
	byProxy.Tool.CallID = "c1"
	if _, ok := asks.Take(byProxy); ok {
		t.Error("known before any hook asked, want it unknown")
	}
	settle := asks.Remember(byHook)
	settle(event.Decision{Verdict: event.Allow, By: "person"})
	if d, ok := asks.Take(byProxy); !ok || d.Verdict != event.Allow {
		t.Errorf("decision %+v, known %v; want what came of the hook's request", d, ok)
	}
	if _, ok := asks.Take(byProxy); ok {
		t.Error("known a second time, want each request served once")
	}
	asks.Remember(byHook) // still open
	if d, ok := asks.Take(byProxy); !ok || d.Verdict != event.None {
		t.Errorf("decision %+v, known %v; want none yet, and nobody asked again", d, ok)
	}
}
