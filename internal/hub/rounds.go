package hub

import (
	"sync"

	"github.com/hookmux/hookmux/event"
)

// rounds counts how often a turn was kept going. Codex has no cap of its own:
// 169 rounds in 15 seconds were seen.
type rounds struct {
	mu    sync.Mutex
	turns map[turnKey]int
	order []turnKey
}

type turnKey struct{ agent, session, sub string }

const (
	maxRounds  = 3
	keepRounds = 4096
)

func newRounds() *rounds { return &rounds{turns: map[turnKey]int{}} }

func keyOf(ev *event.Event) turnKey {
	k := turnKey{agent: ev.Agent, session: ev.Session}
	if ev.Subagent != nil {
		k.sub = ev.Subagent.ID
	}
	return k
}

// apply forgets the count when a person begins a new turn.
func (r *rounds) apply(ev *event.Event) {
	if ev.Kind != event.TurnStart || ev.GoingOn {
		return
	}
	r.mu.Lock()
	delete(r.turns, keyOf(ev))
	r.mu.Unlock()
}

func (r *rounds) mayGoOn(ev *event.Event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turns[keyOf(ev)] < maxRounds
}

func (r *rounds) wentOn(ev *event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := keyOf(ev)
	if _, ok := r.turns[k]; !ok {
		r.order = append(r.order, k)
		if len(r.order) > keepRounds {
			delete(r.turns, r.order[0])
			r.order = r.order[1:]
		}
	}
	r.turns[k]++
}
