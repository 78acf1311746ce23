package facts

import (
	"fmt"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// happen plays what a text says: each letter is a call, a capital one failed; a
// point begins a new turn.
func happen(t *Tracker, text string) Counts {
	var got Counts
	for i, letter := range text {
		ev := &event.Event{ID: fmt.Sprint(i), Agent: "claude", Session: "s"}
		if letter == '.' {
			ev.Kind = event.TurnStart
			t.Observe(ev)
			continue
		}
		failed := letter >= 'A' && letter <= 'Z'
		if failed {
			letter += 'a' - 'A'
		}
		ev.Kind = event.ToolBefore
		ev.Tool = &event.Tool{Name: "Bash", Commands: []string{"run " + string(letter)}, CallID: fmt.Sprint("c", i)}
		t.Observe(ev)
		got, _ = t.Of(ev)
		after := *ev
		after.Kind, after.Tool = event.ToolAfter, &event.Tool{Name: "Bash", CallID: ev.Tool.CallID, Failed: failed}
		t.Observe(&after)
	}
	return got
}

func TestCounts(t *testing.T) {
	for text, want := range map[string]Counts{
		"a":        {SameCall: 1, CallsThisTurn: 1},
		"aaa":      {SameCall: 3, CallsThisTurn: 3},
		"aba":      {SameCall: 2, CallsThisTurn: 3, Alternating: 1},
		"ababab":   {SameCall: 3, CallsThisTurn: 6, Alternating: 4},
		"ababc":    {SameCall: 1, CallsThisTurn: 5},
		"AAAa":     {SameCall: 4, CallsThisTurn: 4, FailuresInRow: 3, SameFailure: 3},
		"AAaa":     {SameCall: 4, CallsThisTurn: 4},
		"ABAa":     {SameCall: 3, CallsThisTurn: 4, FailuresInRow: 3, SameFailure: 2},
		"aaa.a":    {SameCall: 1, CallsThisTurn: 1},
		"AAA.Ba":   {SameCall: 1, CallsThisTurn: 2, FailuresInRow: 1},
		"abcabcab": {SameCall: 3, CallsThisTurn: 8},
	} {
		if got := happen(New(), text); got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

// Somebody who only asks what would happen is told, and nothing is counted.
func TestAsking(t *testing.T) {
	tracker := New()
	happen(tracker, "aa")
	ask := &event.Event{ID: "asked", Kind: event.ToolBefore, Agent: "claude", Session: "s",
		Tool: &event.Tool{Name: "Bash", Commands: []string{"run a"}}}
	for range 2 {
		if got, ok := tracker.Of(ask); !ok || got.SameCall != 3 {
			t.Errorf("got %+v, %v; want the third call of its kind", got, ok)
		}
	}
	if _, ok := tracker.Of(&event.Event{Kind: event.ToolBefore, Tool: ask.Tool}); ok {
		t.Errorf("counts of an event without a session are known, want unknown")
	}
}

func TestBounds(t *testing.T) {
	tracker := New()
	for i := range 3 * maxSessions {
		for j := range 3 {
			tracker.Observe(&event.Event{ID: "x", Kind: event.ToolBefore, Agent: "claude", Session: fmt.Sprint(i),
				Tool: &event.Tool{Name: "Bash", Commands: []string{fmt.Sprint(j)}}})
		}
	}
	if n := tracker.sessions.Len(); n > maxSessions {
		t.Errorf("%d sessions are kept, want at most %d", n, maxSessions)
	}
	for i := range 3 * maxCalls {
		tracker.Observe(&event.Event{ID: "x", Kind: event.ToolBefore, Agent: "claude", Session: "one",
			Tool: &event.Tool{Name: "Bash", CallID: fmt.Sprint(i), Commands: []string{fmt.Sprint(i)}}})
	}
	s, _ := tracker.sessions.Get(sessionKey{"claude", "one"})
	if s.calls.Len() > maxCalls || s.open.Len() > maxOpen {
		t.Errorf("%d calls and %d open ones are kept, want at most %d and %d", s.calls.Len(), s.open.Len(), maxCalls, maxOpen)
	}
}
