package sessions

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// processKey identifies one process: PID and start time, because PIDs are reused.
type processKey struct {
	pid   int
	start uint64
}

// processOf returns the process a session runs in.
func processOf(one *state.Session) processKey { return processAt(one.Place) }

// processAt returns the process at a place: the agent's, or the first one of the terminal
// where the agent's is not known.
func processAt(at event.Place) processKey {
	if at.PID <= 0 && !at.Shared {
		return processKey{at.Holder, at.HolderStart}
	}
	return processKey{at.PID, at.Start}
}

// processWatcher notices when an agent's process ends: no hook reports a crash,
// a kill or a closed terminal.
type processWatcher struct {
	ctx    context.Context
	deps   services.Deps
	system bool             // the table is the machine's own, which can be waited on
	ended  func(processKey) // is told of each process that ended

	mu      sync.Mutex
	open    map[processKey]bool
	polled  map[processKey]bool
	running sync.WaitGroup
}

const (
	// maxWatches bounds descriptors; processes beyond it are polled.
	maxWatches        = 1024
	processPollPeriod = 250 * time.Millisecond
)

func newProcessWatcher(ctx context.Context, deps services.Deps, ended func(processKey)) *processWatcher {
	return &processWatcher{
		ctx: ctx, deps: deps, system: deps.Processes == proc.System(), ended: ended,
		open: map[processKey]bool{}, polled: map[processKey]bool{},
	}
}

// watchSession makes sure that a session's process is watched.
func (w *processWatcher) watchSession(one *state.Session) {
	key := processOf(one)
	if key.pid <= 0 || !one.Live() || one.Place.Shared {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[key] || w.polled[key] || w.ctx.Err() != nil {
		return
	}
	if !w.system || len(w.open) >= maxWatches {
		w.addPolled(key)
		return
	}
	w.open[key] = true
	w.running.Go(func() { w.awaitExit(key) })
}

// addPolled has a process polled; the caller holds the lock.
func (w *processWatcher) addPolled(key processKey) {
	if len(w.polled) == 0 {
		w.running.Go(w.pollProcesses)
	}
	w.polled[key] = true
}

// isWatched reports whether a session's process is known to live.
func (w *processWatcher) isWatched(one *state.Overview) bool {
	key := processKey{one.PID, one.Start}
	w.mu.Lock()
	defer w.mu.Unlock()
	return key.pid > 0 && !one.Shared && (w.open[key] || w.polled[key])
}

func (w *processWatcher) awaitExit(key processKey) {
	ended, err := proc.WatchExit(w.ctx, key.pid, key.start)
	if err != nil {
		w.deps.Log.Warn("a process cannot be watched", "pid", key.pid, "error", err)
		w.mu.Lock()
		delete(w.open, key)
		w.addPolled(key)
		w.mu.Unlock()
		return
	}
	select {
	case <-w.ctx.Done():
	case <-ended:
		w.mu.Lock()
		delete(w.open, key)
		w.mu.Unlock()
		w.ended(key)
	}
}

// pollProcesses looks at processes that cannot be waited on, until none is left.
func (w *processWatcher) pollProcesses() {
	tick := time.NewTicker(processPollPeriod)
	defer tick.Stop()
	for {
		select {
		case <-w.ctx.Done():
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
			if processLife(w.deps.Processes, key) != state.Gone {
				continue
			}
			w.ended(key)
			w.mu.Lock()
			delete(w.polled, key)
			last := len(w.polled) == 0
			w.mu.Unlock()
			if last {
				return // decided under the lock: the next one starts a new poller
			}
		}
	}
}

func (w *processWatcher) waitStopped() { w.running.Wait() }

// processLife returns what the process table says about a process.
func processLife(table proc.Table, key processKey) state.Liveness {
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

// sessionLife returns what is known about a session's process. A daemon that serves many
// terminals says nothing about one session, unless the one that shows it is known and there.
func sessionLife(table proc.Table, one *state.Session) state.Liveness {
	key := processOf(one)
	if key.pid <= 0 {
		return state.Unknown
	}
	life := processLife(table, key)
	if one.Place.Shared {
		shown := processKey{one.Place.Holder, one.Place.HolderStart}
		if life == state.Alive && shown.pid > 0 && processLife(table, shown) == state.Alive {
			return state.Alive
		}
		return state.Unknown
	}
	if one.Place.PID <= 0 && life == state.Alive {
		return state.Unknown // a terminal that is open says nothing about the agent in it
	}
	return life
}
