package module

import (
	"sync"
	"time"
)

// watchdog interrupts an engine that computes for longer than its slice
// without giving way. Time the engine spends waiting inside Go does not count.
// After it fired it keeps on firing until the engine comes back: an engine
// takes an interrupt back when it is entered anew.
type watchdog struct {
	interrupt func() // asynchronous; only called between start and stop
	slice     time.Duration

	mu      sync.Mutex
	timer   *time.Timer
	running bool
	paused  bool
	fired   bool
	until   time.Time
	left    time.Duration
}

const again = 20 * time.Millisecond

func (w *watchdog) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.paused, w.fired = true, false, false
	w.until = time.Now().Add(w.slice)
	if w.timer == nil {
		w.timer = time.AfterFunc(w.slice, w.check)
		return
	}
	w.timer.Reset(w.slice)
}

// stop reports whether the engine had to be interrupted.
func (w *watchdog) stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	w.timer.Stop()
	return w.fired
}

// outside runs f, which waits for the world, off the engine's time.
func (w *watchdog) outside(f func()) {
	w.mu.Lock()
	nested := w.paused || !w.running
	if !nested {
		w.paused, w.left = true, time.Until(w.until)
	}
	w.mu.Unlock()
	if !nested {
		defer func() {
			w.mu.Lock()
			w.paused = false
			w.until = time.Now().Add(w.left)
			w.timer.Reset(max(w.left, 0))
			w.mu.Unlock()
		}()
	}
	f()
}

func (w *watchdog) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running || w.paused {
		return
	}
	if left := time.Until(w.until); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.fired = true
	w.interrupt()
	w.timer.Reset(again)
}

// hurry ends the slice under way.
func (w *watchdog) hurry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		return
	}
	w.until, w.left = time.Time{}, 0
	if !w.paused {
		w.timer.Reset(0)
	}
}
