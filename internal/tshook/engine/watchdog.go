package engine

import (
	"sync"
	"time"
)

// watchdog interrupts an engine that computes for longer than its slice without yielding.
// Time the engine spends waiting inside Go is excluded, and so is time in which the machine
// was busy with others: as long as the whole process hasn't computed for half a slice since
// the middle of it, no engine in it has. That patience is limited, so that a slice stays a
// bound. How much the process has computed is only read in the middle: nearly every turn is
// over long before.
// Once it has fired it keeps firing until the engine returns: an engine clears an interrupt
// when it is entered again.
type watchdog struct {
	interrupt func() // asynchronous; only called between start and stop
	slice     time.Duration
	computed  func() time.Duration // by the process; nil means [processTime]

	mu      sync.Mutex
	timer   *time.Timer
	running bool
	paused  bool
	fired   bool
	hurried bool
	until   time.Time
	left    time.Duration
	began   time.Time
	half    bool          // of the slice is over
	used    time.Duration // by the process, when half was over
}

// patience is how many slices of the clock a turn may last that computed for
// less than one.
const patience = 5

const fireAgain = 20 * time.Millisecond

func (w *watchdog) startTurn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.paused, w.fired, w.hurried, w.half = true, false, false, false, false
	w.began = time.Now()
	w.until = w.began.Add(w.slice)
	if w.timer == nil {
		w.timer = time.AfterFunc(w.slice/2, w.checkTurn)
		return
	}
	w.timer.Reset(w.slice / 2)
}

func (w *watchdog) processTimeUsed() time.Duration {
	if w.computed != nil {
		return w.computed()
	}
	return processTime()
}

// stopTurn reports whether the engine had to be interrupted.
func (w *watchdog) stopTurn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	w.timer.Stop()
	return w.fired
}

// runOutside runs f without counting its time for the slice.
func (w *watchdog) runOutside(f func()) {
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

func (w *watchdog) checkTurn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running || w.paused {
		return
	}
	if !w.half {
		w.half, w.used = true, w.processTimeUsed()
	}
	if left := time.Until(w.until); left > 0 {
		w.timer.Reset(left)
		return
	}
	if left := w.slice/2 - (w.processTimeUsed() - w.used); !w.fired && !w.hurried && left > 0 &&
		time.Since(w.began) < patience*w.slice {
		w.timer.Reset(max(left, fireAgain))
		return
	}
	w.fired = true
	w.interrupt()
	w.timer.Reset(fireAgain)
}

// endSlice ends the current slice.
func (w *watchdog) endSlice() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		return
	}
	w.until, w.left, w.hurried = time.Time{}, 0, true
	if !w.paused {
		w.timer.Reset(0)
	}
}
