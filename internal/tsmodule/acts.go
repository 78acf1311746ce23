package tsmodule

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tsmodule/pi"
)

// acts are what a file has pi do, in order: it shows a status, names the
// session. Nobody waits for them.
type acts struct {
	mu      sync.Mutex
	waiting []doing
	busy    bool
}

type doing struct {
	key  string
	args json.RawMessage
}

const (
	// maxActs bounds what waits; the oldest goes first, as a newer status
	// takes an older one's place.
	maxActs = 200
	// actWait is how long pi may take to do one.
	actWait = 10 * time.Second
	// A session that has just begun does not listen at once.
	actRetry = 100 * time.Millisecond
	actTries = 20
)

func (v *fileOwner) Act(key string, args json.RawMessage) {
	if v.m.engine.host.Model == nil || v.headless(key) {
		return // where nobody looks, nothing is shown
	}
	a := &v.acts
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) >= maxActs {
		a.waiting = a.waiting[1:]
	}
	a.waiting = append(a.waiting, doing{key, append(json.RawMessage(nil), args...)})
	if !a.busy {
		a.busy = true
		go v.doActs()
	}
}

func (v *fileOwner) doActs() {
	a := &v.acts
	for {
		a.mu.Lock()
		if len(a.waiting) == 0 || v.g.runner != nil && v.g.runner.Why() != nil {
			a.waiting, a.busy = nil, false
			a.mu.Unlock()
			return
		}
		one := a.waiting[0]
		a.waiting = a.waiting[1:]
		a.mu.Unlock()
		v.doAct(one)
	}
}

func (v *fileOwner) doAct(one doing) {
	ev := &event.Event{}
	ev.Agent, ev.Session = splitKey(one.key)
	for range actTries {
		ctx, cancel := context.WithTimeout(context.Background(), actWait)
		_, err := v.m.engine.host.Model.Complete(ctx, ev, one.args)
		gone := ctx.Err() != nil
		cancel()
		if err == nil {
			call := pi.ParseObject(one.args)
			v.Did(one.key, "pi", str(call["on"])+"."+str(call["method"]), nil)
		}
		if err == nil || gone || !IsUnheard(err) || v.headless(one.key) {
			return
		}
		time.Sleep(actRetry)
	}
}

// unheard is the error of a [Model] whose agent does not listen, or not yet.
type unheard struct{ error }

// Unheard says that nobody in the agent listens.
func Unheard(err error) error { return unheard{err} }

// IsUnheard reports whether an error is [Unheard]'s.
func IsUnheard(err error) bool {
	_, ok := err.(unheard)
	return ok
}
