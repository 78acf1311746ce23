package approvals

import (
	"testing"

	"github.com/hookmux/hookmux/event"
)

func TestHookAsksServeOnce(t *testing.T) {
	var asks SeenRequests
	byHook, byProxy := shellCall(`{"command":"npm test"}`), shellCall(`{"command":"npm test","description":"x"}`)
	byProxy.Tool.CallID = "c1"
	if _, ok := asks.TakeOut(byProxy, true); ok {
		t.Error("known before any hook asked, want it unknown")
	}
	settle := asks.Remember(byHook, false)
	settle(event.Decision{Verdict: event.Allow, By: "person"})
	if d, ok := asks.TakeOut(byProxy, true); !ok || d.Verdict != event.Allow {
		t.Errorf("decision %+v, known %v; want what came of the hook's request", d, ok)
	}
	if _, ok := asks.TakeOut(byProxy, true); ok {
		t.Error("known a second time, want each request served once")
	}
	asks.Remember(byProxy, true)
	if _, ok := asks.TakeOut(byProxy, true); ok {
		t.Error("known by the way it came itself, want only the other way counted")
	}
	if _, ok := asks.TakeOut(byHook, false); !ok {
		t.Error("the hook that comes second is asked again, want it known")
	}
	asks.Remember(byHook, false) // still open
	if d, ok := asks.TakeOut(byProxy, true); !ok || d.Verdict != event.None {
		t.Errorf("decision %+v, known %v; want none yet, and nobody asked again", d, ok)
	}
}
