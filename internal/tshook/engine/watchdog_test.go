package engine

import (
	"testing"
	"time"
)

// A turn that did not get to compute is given more
// of the clock, up to an end; one that did is not.
func TestWatchdogOnABusyMachine(t *testing.T) {
	const slice = 20 * time.Millisecond
	began := time.Now()
	for _, c := range []struct {
		name     string
		computed func() time.Duration
		earliest time.Duration
	}{
		{"starved", func() time.Duration { return 0 }, patience * slice},
		{"computing", func() time.Duration { return time.Since(began) }, slice},
	} {
		fired := make(chan struct{}, 100)
		w := &watchdog{slice: slice, computed: c.computed, interrupt: func() {
			select {
			case fired <- struct{}{}:
			default:
			}
		}}
		start := time.Now()
		w.startTurn()
		select {
		case <-fired:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: never interrupted, want that within 10 seconds", c.name)
		}
		if took := time.Since(start); took < c.earliest {
			t.Errorf("%s: interrupted after %s; want took >= c.earliest", c.name, took)
		}
		if !w.stopTurn() {
			t.Errorf("%s: it does not know", c.name)
		}
	}
}
