package daemoncmd

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// What lives long in a daemon is small; what passes through becomes garbage at once.
// Collecting it less often saves a fifth of the cpu of an event, but waiting for three times
// the live heap would let a daemon with many sessions grow for nothing: so the amount of
// garbage that is allowed is the same at any size.
const (
	garbage     = 14 << 20
	mostPercent = 300
	fewPercent  = 50
	lookAtHeap  = 2 * time.Second
)

// StaySmall keeps a daemon's memory small until ctx ends.
func StaySmall(ctx context.Context) {
	go steadyHeap(ctx)
	go releasePages(ctx)
}

// steadyHeap keeps the garbage to that until ctx ends.
func steadyHeap(ctx context.Context) {
	percent := mostPercent
	debug.SetGCPercent(percent)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(lookAtHeap)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if metrics.Read(live); live[0].Value.Kind() != metrics.KindUint64 {
			return // this runtime doesn't report it
		}
		if next := percentFor(live[0].Value.Uint64()); 10*max(next-percent, percent-next) > percent {
			percent = next
			debug.SetGCPercent(percent)
		}
	}
}

// percentFor returns how much garbage may lie about, in parts of what lives.
func percentFor(live uint64) int {
	if live == 0 {
		return mostPercent
	}
	return int(min(mostPercent, max(fewPercent, 100*garbage/live)))
}
