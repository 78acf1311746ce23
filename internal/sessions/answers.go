package hub

import (
	"context"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// windows sees that a person answered in the agent's own window, where the
// agent keeps a file that says so: no hook tells, and the command that was
// allowed may run for long before one does.
type windows struct {
	s     *sessions
	mu    sync.Mutex
	open  map[state.Key]context.CancelFunc
	going sync.WaitGroup
}

func newWindows(s *sessions) *windows {
	return &windows{s: s, open: map[state.Key]context.CancelFunc{}}
}

// see follows the file of a session as long as it waits.
func (w *windows) see(one *state.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cancel, watched := w.open[one.Key]
	if !one.Live() || !one.Waits() {
		if watched {
			cancel()
			delete(w.open, one.Key)
		}
		return
	}
	if watched || one.Place.Shared {
		return
	}
	a, ok := w.s.deps.Catalogue.Agent(one.Agent)
	if !ok || a.Feed == nil || a.Feed.Window != agent.WindowState {
		return
	}
	ctx, cancel := context.WithCancel(w.s.ctx)
	answered := stateDecided(ctx, a.Feed.State, &event.Event{Session: one.ID, Transcript: one.Transcript, Where: one.Place})
	if answered == nil {
		cancel()
		return
	}
	w.open[one.Key] = cancel
	w.going.Go(func() {
		defer cancel()
		select {
		case <-ctx.Done():
			return
		case <-answered:
		}
		w.mu.Lock()
		delete(w.open, one.Key)
		w.mu.Unlock()
		// What was asked since is another question.
		if c := w.s.book.Answered(one.Key, "", time.Now().Add(-stateStays)); c.Answered {
			w.s.note(c)
		}
	})
}

// drop stops following a session that is gone.
func (w *windows) drop(key state.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cancel, ok := w.open[key]; ok {
		cancel()
		delete(w.open, key)
	}
}

func (w *windows) end() { w.going.Wait() }
