package pipeline

import (
	"strings"
	"sync"

	"github.com/hookmux/hookmux/event"
)

// keepGoingLimiter counts how often a turn was kept going. Codex has no cap of its own:
// 169 rounds in 15 seconds were seen.
type keepGoingLimiter struct {
	mu    sync.Mutex
	turns map[turnKey]int
	said  map[turnKey]string // the reason of the last round
	order []turnKey
	tells map[string]bool // agents that say when they were kept going
}

type turnKey struct{ agent, session, sub string }

const (
	maxRounds  = 3
	keepRounds = 4096
)

func newKeepGoingLimiter() *keepGoingLimiter {
	return &keepGoingLimiter{said: map[turnKey]string{}, turns: map[turnKey]int{}, tells: map[string]bool{}}
}

func turnOf(ev *event.Event) turnKey {
	k := turnKey{agent: ev.Agent, session: ev.Session}
	if ev.Subagent != nil {
		k.sub = ev.Subagent.ID
	}
	return k
}

// observe forgets the count when a person begins a new turn.
func (r *keepGoingLimiter) observe(ev *event.Event) {
	if !ev.Kind.TakesKeepGoing() && ev.Kind != event.TurnStart {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if ev.GoingOn {
		r.tells[ev.Agent] = true
	}
	if r.isFreshTurn(ev) {
		delete(r.turns, turnOf(ev))
	}
}

// isFreshTurn: the event is of a turn that nobody kept going yet.
func (r *keepGoingLimiter) isFreshTurn(ev *event.Event) bool {
	switch {
	case ev.GoingOn:
		return false
	case ev.Kind.TakesKeepGoing():
		// An end that was not kept going is that of a new turn, if this agent
		// says so of those that were.
		return r.tells[ev.Agent]
	case ev.Kind == event.TurnStart:
		// Some agents report what they are told to go on with like a prompt.
		said := r.said[turnOf(ev)]
		return said == "" || !strings.Contains(ev.Prompt, said)
	}
	return false
}

// mayGoOn looks for itself whether the turn is a fresh one: for a dry run
// nothing was applied.
func (r *keepGoingLimiter) mayGoOn(ev *event.Event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.isFreshTurn(ev) || r.turns[turnOf(ev)] < maxRounds
}

func (r *keepGoingLimiter) countRound(ev *event.Event, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := turnOf(ev)
	if _, ok := r.turns[k]; !ok {
		r.order = append(r.order, k)
		if len(r.order) > keepRounds {
			delete(r.turns, r.order[0])
			delete(r.said, r.order[0])
			r.order = r.order[1:]
		}
	}
	r.turns[k]++
	r.said[k] = reason
}
