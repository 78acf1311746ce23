package memory

import (
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/boundedmap"
)

// HookAsks remembers permission requests that an agent's own hooks put, and what
// came of them: the same request, told by a program that sits between the agent
// and an editor, is not put to a person again.
type HookAsks struct {
	mu    sync.Mutex
	known boundedmap.Map[policy.Key, *event.Decision]
}

// Remember takes in that the agent's hooks put a request. What comes of it is in
// decision, which settle is to be called with.
func (h *HookAsks) Remember(ev *event.Event) (settle func(event.Decision)) {
	keys := policy.Keys(ev)
	said := new(event.Decision)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range keys {
		h.known.Put(k, said, keepAnswers)
	}
	return func(d event.Decision) {
		h.mu.Lock()
		defer h.mu.Unlock()
		*said = d
	}
}

// Take reports whether the agent's hooks put this request before, with what came
// of it so far, and forgets it.
func (h *HookAsks) Take(ev *event.Event) (event.Decision, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range policy.Keys(ev) {
		said, ok := h.known.Get(k)
		if !ok {
			continue
		}
		for _, other := range policy.Keys(ev) {
			if same, ok := h.known.Get(other); ok && same == said {
				h.known.Delete(other)
			}
		}
		return *said, true
	}
	return event.Decision{}, false
}
