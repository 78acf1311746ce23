package approvals

import (
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// Repeats remembers calls that were put to the user, for agents that report a
// call a second time after a yes at their own prompt: the answer is there
// already, and another wait would only keep the user waiting.
// Such a call passes without an opinion, so that nothing is approved by it.
type Repeats struct {
	mu    sync.Mutex
	known bounded.Map[policy.Key, struct{}]
}

// Knows reports whether this very call came at this kind of event before. Calls without a
// number can't be told apart.
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
	if r.known.Has(key) {
		return true
	}
	if keep {
		r.known.Put(key, struct{}{}, keepAnswers)
	}
	return false
}
