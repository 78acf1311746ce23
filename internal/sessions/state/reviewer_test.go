package state

import (
	"testing"

	"github.com/hookmux/hookmux/event"
)

func reviewed(who event.Reviewer) option { return func(e *event.Event) { e.Reviewer = who } }

// A permission request that the agent's own reviewer decides about waits for
// nobody, whatever the session did before.
func TestReviewedRequest(t *testing.T) {
	for _, from := range states {
		for _, c := range []struct {
			reviewer event.Reviewer
			want     Status
		}{
			{event.ReviewerUnknown, WaitingForYou},
			{event.ReviewerUser, WaitingForYou},
			{event.ReviewerAgent, Running},
		} {
			w := newWorld(t)
			from.bring(w)
			if from.status == WaitingForYou && c.reviewer == event.ReviewerAgent {
				c.want = WaitingForYou // what was asked before is still open
			}
			change := w.send(event.PermissionRequest, turn("p2"), shell("", "sudo x"), reviewed(c.reviewer))
			got := w.get()
			if got.Status != c.want || got.Reviewer != c.reviewer {
				t.Errorf("from %s, reviewer %q: %s, reviewer %q; expected %s", from.status, c.reviewer, got.Status,
					got.Reviewer, c.want)
			}
			if c.want == Running && change.Waiting {
				t.Errorf("from %s: it was told that the session waits", from.status)
			}
		}
	}
}

// A subagent's request goes to the same reviewer.
func TestReviewedSubagent(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.SubagentStart, by("a1", "explore"))
	w.send(event.PermissionRequest, by("a1", "explore"), shell("", "make"), reviewed(event.ReviewerAgent))
	if got := w.get(); got.Status != Running || len(got.Asks) != 0 {
		t.Errorf("it is %s with %d questions, expected running with none", got.Status, len(got.Asks))
	}
}

// What the record says is kept until it says something else.
func TestReviewerSeen(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	for _, who := range []event.Reviewer{event.ReviewerAgent, event.ReviewerUser} {
		w.sessions.ReviewerSeen(key, who)
		w.send(event.ToolBefore, turn("p1"), shell("c1", "make"))
		if got := w.get().Reviewer; got != who {
			t.Errorf("the reviewer is %q, expected %q", got, who)
		}
	}
}
