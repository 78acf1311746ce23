package daemon

import (
	"context"
	"time"
)

// removedPeriod is how often the daemon checks that agents' hooks are still there.
const removedPeriod = 5 * time.Second

// watchRemoved reports hooks that something other than hookmux removed.
func (h *Daemon) watchRemoved(ctx context.Context) {
	if h.removed == nil {
		return
	}
	tick := time.NewTicker(removedPeriod)
	defer tick.Stop()
	before := map[string]bool{}
	for {
		before = h.reportRemoved(before)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// reportRemoved checks once. It reports only what the previous check saw, too: agents rewrite
// their files, `hookmux install` writes its record before the hooks, and `hookmux uninstall`
// deletes it after them.
func (h *Daemon) reportRemoved(before map[string]bool) map[string]bool {
	now, said := map[string]bool{}, map[string]bool{}
	for _, p := range h.removed(h.deps.Catalogue) {
		now[p.Key] = true
		if !before[p.Key] {
			continue
		}
		said[p.Key] = true
		if h.deps.Problems.Set(p.Key, p.What, p.Fix) {
			h.notify.HooksRemoved(p)
		}
	}
	h.deps.Problems.ClearExcept("hooks.", said)
	return now
}
