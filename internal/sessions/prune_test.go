package sessions

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// Sessions that never become quiet (a call that begins and never ends) are bounded, too,
// also those of a process that lives; what hookmux holds stays.
func TestSessionsThatNeverBecomeQuietAreBounded(t *testing.T) {
	for _, watched := range []bool{false, true} {
		all := state.NewSessions()
		begin := time.Now()
		prune := func() {
			for _, key := range chooseForgotten(all.Overviews(), func(*state.Overview) bool { return watched }) {
				all.Forget(key)
			}
		}
		const count = 3 * keepAll
		for i := range count {
			id := fmt.Sprint("s", i)
			ev := &event.Event{Agent: "claude", Session: id, Kind: event.ToolBefore, Native: "PreToolUse",
				Time: begin.Add(time.Duration(i) * time.Second), Tool: &event.Tool{Name: "Bash", CallID: id}}
			all.ApplyNumbered(ev, 0, state.Rules{})
			if i == 0 {
				all.RequestOpened("r1", ev, begin, state.Rules{})
			}
			if i%125 == 124 {
				prune()
			}
		}
		prune()
		if n := all.Len(); n != keepAll {
			t.Errorf("watched %v: %d sessions are kept, want %d", watched, n, keepAll)
		}
		for _, id := range []string{"s0", fmt.Sprint("s", count-1)} {
			if _, ok := all.Get(state.Key{Agent: "claude", ID: id}); !ok {
				t.Errorf("watched %v: %s was forgotten; want the waiting one and the newest kept", watched, id)
			}
		}
	}
}

// Quiet sessions go before those in which something goes on, and of those the ones
// first whose process nobody can see.
func TestWhichSessionsAreForgotten(t *testing.T) {
	at := time.Now()
	var all []state.Overview
	add := func(n int, prefix string, one state.Overview) {
		for i := range n {
			one.Key, one.LastEvent = state.Key{Agent: "claude", ID: fmt.Sprint(prefix, i)}, at.Add(time.Duration(i))
			all = append(all, one)
		}
	}
	add(keepQuiet+2, "quiet", state.Overview{Live: true})
	add(10, "unseen", state.Overview{Live: true, Open: true})
	add(keepAll, "seen", state.Overview{Live: true, Open: true, PID: 1})
	var ids []string
	for _, key := range chooseForgotten(all, func(one *state.Overview) bool { return one.PID == 1 }) {
		ids = append(ids, key.ID)
	}
	if len(all)-len(ids) != keepAll || !slices.Equal(ids[:2], []string{"quiet0", "quiet1"}) ||
		ids[keepQuiet+2] != "unseen0" || len(ids) != keepQuiet+12 {
		t.Errorf("%d are forgotten: %v", len(ids), ids)
	}
}
