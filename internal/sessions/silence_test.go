package sessions

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/sessions/state"
)

// A session whose transcript grows while no hook arrives is noticed; one whose hooks
// arrive, that is idle, that thinks for a while or that ends is not.
func TestSessionsWithoutHooksAreNoticed(t *testing.T) {
	start := time.Now()
	for name, c := range map[string]struct {
		grows, hooks, open bool
		late               time.Duration // the transcript is written for that long after the event
		lasts              time.Duration
		want               bool
	}{
		"works without hooks":                {grows: true, lasts: 2 * time.Minute, want: true},
		"works with hooks":                   {grows: true, hooks: true, lasts: 10 * time.Minute},
		"idle":                               {lasts: 10 * time.Minute},
		"a title comes late":                 {grows: true, late: 25 * time.Second, lasts: 10 * time.Minute},
		"thinks in a turn":                   {grows: true, open: true, lasts: 4 * time.Minute},
		"works without hooks, turn was open": {grows: true, open: true, lasts: 8 * time.Minute, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := silenceWatch{}
			one := state.Overview{Key: state.Key{Agent: "claude", ID: "s1"}, Live: true, Open: c.open, LastEvent: start,
				Transcript: "/t"}
			size, written := int64(100), start
			stat := func(string) (int64, time.Time, bool) { return size, written, true }
			noticed := 0
			now := start
			for ; now.Sub(start) < c.lasts; now = now.Add(silencePeriod) {
				if c.hooks {
					one.LastEvent = now.Add(-time.Second)
				}
				if c.grows && (c.late == 0 || now.Sub(start) < c.late) {
					size, written = size+50, now
				}
				begun, over := w.look(now, []state.Overview{one}, stat)
				noticed += len(begun)
				if len(over) > 0 {
					t.Fatalf("over at once: %v", over)
				}
				if gap, ok := begun[one.Key]; ok && !gap.From.Equal(start) {
					t.Errorf("the gap began at %s, want the last event, %s", gap.From, start)
				}
			}
			want := 0
			if c.want {
				want = 1
			}
			if noticed != want {
				t.Fatalf("noticed %d times, want %d", noticed, want)
			}
			one.LastEvent = now
			if _, over := w.look(now, []state.Overview{one}, stat); len(over) != want {
				t.Errorf("a hook arrives, and %v are over; want %d", over, want)
			}
		})
	}
}

// A session that ends in a gap ends the gap.
func TestAGapEndsWithItsSession(t *testing.T) {
	now := time.Now()
	key := state.Key{Agent: "claude", ID: "s1"}
	w := silenceWatch{all: map[state.Key]*silence{key: {told: true, first: now.Add(-time.Minute)}}}
	if _, over := w.look(now, nil, statOnDisk); !over[key].Until.Equal(now) {
		t.Errorf("over: %v, want now", over)
	}
}
