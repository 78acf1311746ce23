package memory

import (
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
)

// Repeats remembers calls that were put to the person, for agents that report a
// call a second time after a yes in their own window: the answer is there
// already, and holding the call again would only keep the person waiting.
// Such a call passes without an opinion, so that nothing is approved by it.
type Repeats struct {
	mu    sync.Mutex
	known map[policy.Key]bool
	order []policy.Key
}

// Knows reports whether this very call came at this kind of event before. Calls
// without a number cannot be told apart.
func (r *Repeats) Knows(ev *event.Event) bool { return r.lookUp(ev, false) }

// Remember is Knows, and remembers the call.
func (r *Repeats) Remember(ev *event.Event) bool { return r.lookUp(ev, true) }

func (r *Repeats) lookUp(ev *event.Event, keep bool) bool {
	key := policy.RepeatKey(ev)
	if key == "" {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[key] || !keep {
		return r.known[key]
	}
	if r.known == nil {
		r.known = map[policy.Key]bool{}
	}
	r.known[key] = true
	if r.order = append(r.order, key); len(r.order) > keepAnswers {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	return false
}
