package state

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// WaitsForPerson tells that a call waits for a person in the feed, although the agent
// itself asked nothing: a hook wants somebody to look, or the user chose to be
// asked.
func (b *Book) WaitsForPerson(ev *event.Event, at time.Time, rules Rules) Change {
	return b.updateFor(ev, at, rules, (*Session).addAsk)
}

// WaitsNoMore tells that it waits no more, whatever came of it.
func (b *Book) WaitsNoMore(ev *event.Event, at time.Time, rules Rules) Change {
	return b.updateFor(ev, at, rules, (*Session).resolveAsk)
}

func (b *Book) updateFor(ev *event.Event, at time.Time, rules Rules, do func(*Session, *input)) Change {
	n := input{ev: ev, at: at, rules: rules}
	b.mu.RLock()
	key, ok := b.findSession(&n)
	b.mu.RUnlock()
	if !ok || rules.Off {
		return Change{Key: key}
	}
	return b.updateSession(key, func(s *Session, _ *Change) {
		if s.Live() {
			do(s, &n)
		}
	})
}
