package selection

import (
	"maps"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
)

// allowances are rules that you let pass once. Each lasts ten minutes and is used up by one
// call: the call's second evaluation and its permission request are the same call.
type allowances struct {
	mu   *sync.Mutex
	open map[string]time.Time
	used map[string]usedAllowance // by rule
}

// usedAllowance is the call that used an allowance.
type usedAllowance struct {
	event  string // for its second look
	call   string // for its permission request, which is another event
	number string // the agent's own, for agents that report one call twice
	until  time.Time
	lasts  time.Time // until when the allowance itself would have lasted
}

const allowanceLasts = 10 * time.Minute

func newAllowances() allowances {
	return allowances{mu: new(sync.Mutex), open: map[string]time.Time{}, used: map[string]usedAllowance{}}
}

func (a allowances) allowOnce(rule string) {
	a.mu.Lock()
	a.open[rule] = time.Now().Add(allowanceLasts)
	a.mu.Unlock()
}

// copyForDryRun returns a copy, of which nothing is missed when it is used up.
func (a allowances) copyForDryRun() allowances {
	a.mu.Lock()
	defer a.mu.Unlock()
	return allowances{mu: new(sync.Mutex), open: maps.Clone(a.open), used: maps.Clone(a.used)}
}

func (a allowances) takeBack(rule string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, had := a.open[rule]
	delete(a.open, rule)
	delete(a.used, rule)
	return had
}

// giveBack takes for unused what a call used that was refused all the same.
func (a allowances) giveBack(eventID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for rule, u := range a.used {
		if u.event == eventID {
			delete(a.used, rule)
			a.open[rule] = u.lasts
		}
	}
}

// NoteDecision gives an allowance back where something else refused the call, and
// remembers a yes to what a budget asked.
func (r *Service) NoteDecision(ev *event.Event, d event.Decision) {
	if d.Verdict == event.Deny {
		r.allowances.giveBack(ev.ID)
	}
	r.lifts.NoteDecision(ev, d)
}

// useUp reports whether a rule was let pass for a call, and uses that up.
func (a allowances) useUp(rule string, ev *event.Event, repeats bool) bool {
	call := ev.Agent + "\x00" + ev.Session + "\x00" + ev.Tool.Name + "\x00" + string(ev.Tool.CurrentInput())
	number := ""
	if repeats && ev.Tool.CallID != "" {
		number = call + "\x00" + ev.Tool.CallID
	}
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if u, ok := a.used[rule]; ok && now.Before(u.until) {
		if number != "" && u.number == number {
			return true
		}
		if u.event == ev.ID {
			u.call = call // as a hook may have changed it
			a.used[rule] = u
			return true
		}
		if ev.Kind == event.PermissionRequest && u.call == call {
			u.event, u.call = ev.ID, "" // asked for once
			a.used[rule] = u
			return true
		}
	}
	until, ok := a.open[rule]
	delete(a.open, rule)
	if !ok || now.After(until) {
		return false
	}
	u := usedAllowance{event: ev.ID, number: number, until: now.Add(allowanceLasts), lasts: until}
	if ev.Kind == event.ToolBefore {
		u.call = call
	}
	a.used[rule] = u
	return true
}
