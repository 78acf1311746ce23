package testbed

import (
	"context"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// Decide is a run's hook: it decides about an event. n is the number of events of the same native
// name before it.
type Decide func(ev *event.Event, n int) event.Decision

// Watcher is a hook that keeps every event and has the run decide.
type Watcher struct {
	catalogue *agent.Catalogue
	decide    Decide
	forget    bool // what was decided: the work of a breakage

	mu      sync.Mutex
	seen    []Seen
	last    time.Time // when the newest came
	counts  map[string]int
	changed chan struct{}
}

func newWatcher(c *agent.Catalogue, decide Decide) *Watcher {
	return &Watcher{catalogue: c, decide: decide, counts: map[string]int{}, changed: make(chan struct{})}
}

// hookEntry registers the watcher as a hook.
func (w *Watcher) hookEntry() (*hook.Entry, error) {
	return hook.NewEntry(hook.Registration{
		ID: "verify", Agent: hook.Any, HookType: hook.Any, Handler: "builtin", Target: "verify", Role: hook.Guard,
	}, w, "global")
}

// Handle keeps the event and returns the run's opinion.
func (w *Watcher) Handle(_ context.Context, call *hook.Call) (event.Decision, error) {
	ev := *call.Event
	ev.Raw = append([]byte(nil), ev.Raw...)
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.counts[ev.Native]
	w.counts[ev.Native]++
	var d event.Decision
	if w.decide != nil {
		d = w.decide(&ev, n)
	}
	answer, sent := w.catalogue.Encode(&ev, d)
	w.last = time.Now()
	w.seen = append(w.seen, Seen{Event: ev, Decision: sent, Answer: answer})
	close(w.changed)
	w.changed = make(chan struct{})
	if w.forget {
		return event.Decision{}, nil
	}
	return d, nil
}

func (w *Watcher) AllSeen() []Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Seen(nil), w.seen...)
}

// HasPassed reports whether an event that ok accepts has passed.
func (w *Watcher) HasPassed(ok func(*event.Event) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.seen {
		if ok(&w.seen[i].Event) {
			return true
		}
	}
	return false
}

// StuckAt reports whether the newest event is of a kind, and nothing came after
// it for a while.
func (w *Watcher) StuckAt(kind event.Kind, d time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen) > 0 && w.seen[len(w.seen)-1].Event.Kind == kind && time.Since(w.last) > d
}

// WaitForOne blocks until an event that ok accepts has passed.
func (w *Watcher) WaitForOne(ctx context.Context, ok func(*event.Event) bool) bool {
	return w.WaitFor(ctx, 1, ok)
}

// WaitFor blocks until so many of them have passed.
func (w *Watcher) WaitFor(ctx context.Context, times int, ok func(*event.Event) bool) bool {
	for {
		w.mu.Lock()
		found := 0
		for i := range w.seen {
			if ok(&w.seen[i].Event) {
				found++
			}
		}
		changed := w.changed
		w.mu.Unlock()
		if found >= times {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}
