package daemon

import (
	"context"
	"time"
)

// removedPeriod is how often the daemon looks whether agents' hooks are still there.
const removedPeriod = 5 * time.Second

// watchRemoved says which agents' hooks something else than hookmux took out.
func (h *Daemon) watchRemoved(ctx context.Context) {
	if h.removed == nil {
		return
	}
	tick := time.NewTicker(removedPeriod)
	defer tick.Stop()
	before := map[string]bool{}
	for {
		before = h.sayRemoved(before)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// sayRemoved looks once. Only what the look before saw, too, is said: agents rewrite their
// files, and `hookmux install` writes its record first and `hookmux uninstall` last.
func (h *Daemon) sayRemoved(before map[string]bool) map[string]bool {
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
