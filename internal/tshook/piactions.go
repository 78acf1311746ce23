package tshook

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// piActions are the calls of pi's own methods that wait, in order: show a status,
// name the session. No handler waits for their result.
type piActions struct {
	mu      sync.Mutex
	waiting []piAction
	busy    bool
}

type piAction struct {
	key  string
	args json.RawMessage
}

const (
	// maxActions limits how many wait. The oldest is dropped first: a newer status
	// replaces an older one.
	maxActions = 200
	// actionTimeout is how long pi may take for one.
	actionTimeout = 10 * time.Second
	// A session that has just started doesn't listen at once.
	actionRetry = 100 * time.Millisecond
	actionTries = 20
)

func (v *fileOwner) RunAgentAction(key string, args json.RawMessage) {
	if v.m.engine.host.Model == nil || v.isHeadless(key) || v.m.isLogOnly() {
		return // an unattended session shows nothing, and neither does a hook that only logs
	}
	a := &v.acts
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) >= maxActions {
		a.waiting = a.waiting[1:]
	}
	a.waiting = append(a.waiting, piAction{key, append(json.RawMessage(nil), args...)})
	if !a.busy {
		a.busy = true
		go v.runActions()
	}
}

func (v *fileOwner) runActions() {
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
		v.runAction(one)
	}
}

func (v *fileOwner) runAction(one piAction) {
	ev := &event.Event{}
	ev.Agent, ev.Session = splitKey(one.key)
	for range actionTries {
		ctx, cancel := context.WithTimeout(context.Background(), actionTimeout)
		_, err := v.m.engine.host.Model.Complete(ctx, ev, one.args)
		gone := ctx.Err() != nil
		cancel()
		if err == nil {
			call := pi.ParseObject(one.args)
			v.RecordAction(one.key, "pi", asString(call["on"])+"."+asString(call["method"]), nil)
		}
		if err == nil || gone || !IsNotListening(err) || v.isHeadless(one.key) {
			return
		}
		time.Sleep(actionRetry)
	}
}

// notListening is the error of a [Model] whose agent doesn't listen, or not yet.
type notListening struct{ error }

// NotListening marks an error as: nothing in the agent listens.
func NotListening(err error) error { return notListening{err} }

// IsNotListening reports whether an error was made by [NotListening].
func IsNotListening(err error) bool {
	var marked notListening
	return errors.As(err, &marked)
}
