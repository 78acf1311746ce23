package pipeline

import (
	"strings"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// keepGoingLimiter counts how often a turn was kept going. Codex has no cap of its own:
// 169 rounds in 15 seconds were seen.
type keepGoingLimiter struct {
	mu    sync.Mutex
	turns bounded.Map[turnKey, rounds]
	tells map[string]bool // agents that say when they were kept going
}

// rounds are how often a turn was kept going, and the reason of the last time.
type rounds struct {
	count int
	said  string
}

type turnKey struct{ agent, session, sub string }

const (
	maxRounds  = 3
	keepRounds = 4096
)

func newKeepGoingLimiter() *keepGoingLimiter {
	return &keepGoingLimiter{tells: map[string]bool{}}
}

func turnOf(ev *event.Event) turnKey {
	k := turnKey{agent: ev.Agent, session: ev.Session}
	if ev.Subagent != nil {
		k.sub = ev.Subagent.ID
	}
	return k
}

// observe resets the count when you begin a new turn.
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
		if was, ok := r.turns.Get(turnOf(ev)); ok {
			r.turns.Put(turnOf(ev), rounds{said: was.said}, keepRounds)
		}
	}
}

// isFreshTurn reports whether the event's turn hasn't been kept going yet.
func (r *keepGoingLimiter) isFreshTurn(ev *event.Event) bool {
	switch {
	case ev.GoingOn:
		return false
	case ev.Kind.TakesKeepGoing():
		// An end that was not kept going is that of a new turn, if this agent
		// says so of those that were.
		return r.tells[ev.Agent]
	case ev.Kind == event.TurnStart:
		// Some agents report the text that keeps them going like a prompt. Nothing but
		// the text itself tells the two apart.
		was, _ := r.turns.Get(turnOf(ev))
		return was.said == "" || !strings.Contains(ev.Prompt, was.said)
	}
	return false
}

// mayGoOn looks for itself whether the turn is a fresh one: for a dry run
// nothing was applied.
func (r *keepGoingLimiter) mayGoOn(ev *event.Event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, _ := r.turns.Get(turnOf(ev))
	return r.isFreshTurn(ev) || was.count < maxRounds
}

func (r *keepGoingLimiter) countRound(ev *event.Event, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, _ := r.turns.Get(turnOf(ev))
	r.turns.Put(turnOf(ev), rounds{was.count + 1, reason}, keepRounds)
}
