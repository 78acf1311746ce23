package state

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// RequestOpened records that a request about an event waits for you. This is known whatever
// the settings say about following the agent's status.
func (b *Sessions) RequestOpened(id string, ev *event.Event, at time.Time, rules Rules) Change {
	n := input{ev: ev, at: at, rules: rules}
	b.mu.Lock()
	defer b.mu.Unlock()
	key, why := b.findSession(&n)
	if why != No {
		key, n.actor = Key{ev.Agent, requestPrefix + id}, ""
	}
	old := b.sessions[key]
	next := newSession(key, at)
	if old != nil {
		next = old.copySession()
	} else {
		next.recordFacts(&n)
	}
	if !next.Live() {
		next.reviveSession() // whoever asks lives
	}
	open := OpenRequest{ID: id, At: at, What: next.Machine.askFor(&n, next.Cwd).What}
	if ask := next.findAsk(&n); ask != nil {
		open.Ask, open.At = ask.N, ask.At
	}
	next.Requests = append(next.Requests[:len(next.Requests):len(next.Requests)], open)
	b.waiting[id] = key
	c := Change{Key: key}
	b.commitChange(old, next, &c)
	return c
}

// RequestEnded records that the request no longer waits. settled says that you decided, here
// or at the agent's own prompt, or that the agent is gone; otherwise the agent's own
// question about the same, if there is one, is still open.
func (b *Sessions) RequestEnded(id string, settled bool, at time.Time) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	key, ok := b.waiting[id]
	delete(b.waiting, id)
	old := b.sessions[key]
	if !ok || old == nil {
		return Change{Key: key}
	}
	next := old.copySession()
	ask := 0
	next.Requests = removeWhere(next.Requests, func(h *OpenRequest) bool {
		if h.ID == id {
			ask = h.Ask
		}
		return h.ID == id
	})
	if len(next.Requests) == 0 && key.ID == requestPrefix+id {
		b.dropSession(key)
		return Change{Key: key, From: old.Status, To: NeverRan, Gone: true}
	}
	if ask != 0 {
		next.endOpenAsk(id, ask, settled)
	}
	if len(next.Asks)+len(next.Requests) == 0 && next.Live() && next.Turn.Open() && next.Machine.Base != Unsure {
		next.Machine.setBase(Running, at)
	}
	c := Change{Key: key}
	b.commitChange(old, next, &c)
	return c
}
