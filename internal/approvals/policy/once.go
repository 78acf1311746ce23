package policy

import (
	"sync"

	"github.com/hookmux/hookmux/event"
)

// Once remembers calls that were put to the person, for agents that report a
// call a second time after a yes in their own window: the answer is there
// already, and holding the call again would only keep the person waiting.
// Such a call passes without an opinion, so that nothing is approved by it.
type Once struct {
	mu    sync.Mutex
	known map[Key]bool
	order []Key
}

// Knows reports whether this very call came at this kind of event before. Calls
// without a number cannot be told apart.
func (o *Once) Knows(ev *event.Event) bool { return o.look(ev, false) }

// Again is Knows, and remembers the call.
func (o *Once) Again(ev *event.Event) bool { return o.look(ev, true) }

func (o *Once) look(ev *event.Event, keep bool) bool {
	if ev.Tool == nil || ev.Tool.CallID == "" {
		return false
	}
	key := digest(WorkerOf(ev), "once", string(ev.Kind), ev.Tool.CallID, what(ev.Tool), Beside(ev.Tool))
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known[key] || !keep {
		return o.known[key]
	}
	if o.known == nil {
		o.known = map[Key]bool{}
	}
	o.known[key] = true
	if o.order = append(o.order, key); len(o.order) > keepServed {
		delete(o.known, o.order[0])
		o.order = o.order[1:]
	}
	return false
}
