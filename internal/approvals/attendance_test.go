package approvals

import (
	"testing"
	"time"
)

func TestPollsAreFollowers(t *testing.T) {
	var p polls
	at := time.Unix(1000, 0)
	one, other := watcher{1, 1}, watcher{2, 2}
	for _, step := range []struct {
		after time.Duration
		who   watcher
		looks bool
	}{
		{0, one, false},                          // a single look
		{time.Second, other, false},              // by somebody else
		{time.Second, one, true},                 // again
		{pollSpan - time.Millisecond, one, true}, // and again
		{pollSpan + time.Second, one, false},     // it had stopped
	} {
		at = at.Add(step.after)
		if got := p.notePoll(step.who, at); got != step.looks {
			t.Errorf("after %s, process %d: follows %t, want %t", step.after, step.who.PID, got, step.looks)
		}
	}
	p.notePoll(one, at.Add(time.Second))
	if !p.isActive(at.Add(2*time.Second)) || p.isActive(at.Add(time.Second+pollSpan)) {
		t.Error("who asks again and again is there until it has not asked for a while, and no longer")
	}
}
