package session

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// Held tells that a call waits for a person in the feed, although the agent
// itself asked nothing: a hook wants somebody to look, or the user chose to be
// asked.
func (b *Book) Held(ev *event.Event, at time.Time, rules Rules) Change {
	return b.about(ev, at, rules, (*Session).ask)
}

// LetGo tells that it waits no more, whatever came of it.
func (b *Book) LetGo(ev *event.Event, at time.Time, rules Rules) Change {
	return b.about(ev, at, rules, (*Session).answered)
}

func (b *Book) about(ev *event.Event, at time.Time, rules Rules, do func(*Session, *news)) Change {
	n := news{ev: ev, at: at, rules: rules}
	b.mu.RLock()
	key, ok := b.route(&n)
	b.mu.RUnlock()
	if !ok || rules.Off {
		return Change{Key: key}
	}
	return b.update(key, func(s *Session, _ *Change) {
		if s.Live() {
			do(s, &n)
		}
	})
}
