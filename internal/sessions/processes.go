package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// watches hears when an agent's process ends: no hook tells of a crash, a kill
// or a closed terminal.
type watches struct {
	s      *sessions
	system bool // the table is the machine's own, which can be waited on
	mu     sync.Mutex
	open   map[processKey]bool
	polled map[processKey]bool
	going  sync.WaitGroup
}

const (
	// maxWatches bounds descriptors; what is beyond is looked at by the clock.
	maxWatches = 1024
	pollWatch  = 250 * time.Millisecond
)

func newWatches(s *sessions) *watches {
	return &watches{s: s, system: s.deps.Processes == proc.System(), open: map[processKey]bool{}, polled: map[processKey]bool{}}
}

// see makes sure that a session's process is watched.
func (w *watches) see(one *state.Session) {
	key := processKey{one.Place.PID, one.Place.Start}
	if key.pid <= 0 || !one.Live() || one.Place.Shared {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[key] || w.polled[key] || w.s.ctx.Err() != nil {
		return
	}
	if !w.system || len(w.open) >= maxWatches {
		if len(w.polled) == 0 {
			w.going.Go(w.poll)
		}
		w.polled[key] = true
		return
	}
	w.open[key] = true
	w.going.Go(func() { w.await(key) })
}

// watched reports whether a session's process is known to live.
func (w *watches) watched(one *state.Overview) bool {
	key := processKey{one.PID, one.Start}
	w.mu.Lock()
	defer w.mu.Unlock()
	return key.pid > 0 && !one.Shared && (w.open[key] || w.polled[key])
}

func (w *watches) await(key processKey) {
	ctx := w.s.ctx
	ended, err := proc.WatchExit(ctx, key.pid, key.start)
	if err != nil {
		w.s.deps.Log.Warn("a process cannot be watched", "pid", key.pid, "error", err)
		w.mu.Lock()
		delete(w.open, key)
		if len(w.polled) == 0 {
			w.going.Go(w.poll)
		}
		w.polled[key] = true
		w.mu.Unlock()
		return
	}
	select {
	case <-ctx.Done():
	case <-ended:
		w.mu.Lock()
		delete(w.open, key)
		w.mu.Unlock()
		w.s.processGone(key)
	}
}

// poll looks at processes that cannot be waited on, until there are none.
func (w *watches) poll() {
	ctx := w.s.ctx
	tick := time.NewTicker(pollWatch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.mu.Lock()
		keys := make([]processKey, 0, len(w.polled))
		for key := range w.polled {
			keys = append(keys, key)
		}
		w.mu.Unlock()
		for _, key := range keys {
			if lifeOf(w.s.deps.Processes, key) != state.Gone {
				continue
			}
			w.s.processGone(key)
			w.mu.Lock()
			delete(w.polled, key)
			last := len(w.polled) == 0
			w.mu.Unlock()
			if last {
				return // under the lock: whoever comes next starts anew
			}
		}
	}
}

func (w *watches) end() { w.going.Wait() }

// lifeOf is what the process table says about a process.
func lifeOf(table proc.Table, key processKey) state.Liveness {
	p, err := table.Lookup(key.pid)
	switch {
	case errors.Is(err, proc.ErrGone):
		return state.Gone
	case err != nil:
		return state.Unknown
	case key.start != 0 && p.Start != key.start:
		return state.Gone
	}
	return state.Alive
}

// alive is what is known about a session's process. One that serves many
// terminals says nothing about this session.
func (s *sessions) alive(one *state.Session) state.Liveness {
	if one.Place.PID <= 0 || one.Place.Shared {
		return state.Unknown
	}
	return lifeOf(s.deps.Processes, processKey{one.Place.PID, one.Place.Start})
}

// processGone: what ran in it is over.
func (s *sessions) processGone(key processKey) {
	for _, c := range s.book.ProcessGone(key.pid, key.start, time.Now()) {
		s.note(c)
		s.panes.left(c.Key)
		s.hub.modules.forget(c.Key.Agent, c.Key.ID)
	}
	s.panes.forget(key)
}

// wait is a pause that ends with ctx.
func wait(ctx context.Context, span time.Duration) bool {
	t := time.NewTimer(span)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
