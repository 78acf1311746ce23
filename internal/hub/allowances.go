package hub

import (
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
)

// allowances are rules a person let pass once. One lasts ten minutes and is
// used up by one call: its second look and its permission request count as the
// same.
type allowances struct {
	mu   *sync.Mutex
	open map[string]time.Time
	used map[string]usedUp // by rule
}

// usedUp is the call that used an allowance.
type usedUp struct {
	event string // for its second look
	call  string // for its permission request, which is another event
	until time.Time
}

const allowanceLasts = 10 * time.Minute

func newAllowances() allowances {
	return allowances{mu: new(sync.Mutex), open: map[string]time.Time{}, used: map[string]usedUp{}}
}

func (a allowances) give(rule string) {
	a.mu.Lock()
	a.open[rule] = time.Now().Add(allowanceLasts)
	a.mu.Unlock()
}

func (a allowances) drop(rule string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, had := a.open[rule]
	delete(a.open, rule)
	delete(a.used, rule)
	return had
}

// covers reports whether a person let this call pass; use says that the
// allowance is used up by it.
func (a allowances) covers(rule string, ev *event.Event, use bool) bool {
	call := ev.Agent + "\x00" + ev.Session + "\x00" + ev.Tool.Name + "\x00" + string(ev.Tool.CurrentInput())
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if u, ok := a.used[rule]; ok && now.Before(u.until) {
		mine := u.event == ev.ID
		if mine {
			u.call = call // as a hook may have changed it
		} else if mine = ev.Kind == event.PermissionRequest && u.call == call; mine {
			u.event, u.call = ev.ID, "" // asked for once
		}
		if mine {
			if use {
				a.used[rule] = u
			}
			return true
		}
	}
	until, ok := a.open[rule]
	ok = ok && !now.After(until)
	if !use {
		return ok
	}
	delete(a.open, rule)
	if !ok {
		return false
	}
	u := usedUp{event: ev.ID, until: now.Add(allowanceLasts)}
	if ev.Kind == event.ToolBefore {
		u.call = call
	}
	a.used[rule] = u
	return true
}
