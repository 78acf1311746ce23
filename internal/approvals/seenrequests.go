package approvals

import (
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// SeenRequests remembers permission requests, and how they ended, by the way they came:
// through an agent's own hooks, or reported by a program between the agent and an editor.
// You aren't asked again when the same request comes the other way. Either may come first.
type SeenRequests struct {
	mu    sync.Mutex
	known bounded.Map[policy.Key, *seenRequest]
}

type seenRequest struct {
	proxied  bool
	decision event.Decision
}

// Remember records that a request came. Call recordAnswer with what came of it.
func (h *SeenRequests) Remember(ev *event.Event, proxied bool) (recordAnswer func(event.Decision)) {
	keys := policy.Keys(ev)
	one := &seenRequest{proxied: proxied}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range keys {
		h.known.Put(k, one, keepAnswers)
	}
	return func(d event.Decision) {
		h.mu.Lock()
		defer h.mu.Unlock()
		one.decision = d
	}
}

// TakeOut reports whether this request came the other way before, with what came of
// it so far, and forgets it.
func (h *SeenRequests) TakeOut(ev *event.Event, proxied bool) (event.Decision, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range policy.Keys(ev) {
		one, ok := h.known.Get(k)
		if !ok || one.proxied == proxied {
			continue
		}
		for _, other := range policy.Keys(ev) {
			if same, ok := h.known.Get(other); ok && same == one {
				h.known.Delete(other)
			}
		}
		return one.decision, true
	}
	return event.Decision{}, false
}
