package approvals

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/atomicfile"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/smallfile"
)

// watchers remembers who follows the requests, beyond the end of this hub. Programs
// that do come back to the next hub a moment later; whatever an agent asks in
// that moment must not be left to it as if nobody were there.
type watchers struct {
	processes proc.Table
	mayAnswer func(peer proc.Cred) (ok bool, why string)
	stopping  func() bool
	file      string

	mu    sync.Mutex
	grace time.Duration   // how long they may be gone
	here  map[watcher]int // who follows, with how many streams
	due   []watcher       // followed an earlier hub and is not back yet
	until time.Time       // how long those are waited for
	came  chan struct{}   // closed and replaced when somebody begins to follow
}

// watcher is a process; a pid alone may be another one's by now.
type watcher struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// returnsWithin is how long a hub waits for those who followed the one before.
// Ours try five times a second.
const returnsWithin = 3 * time.Second

// maxWatchers bounds how many of those are believed to have been there.
const maxWatchers = 512

// newWatchers reads who followed the hub before.
func newWatchers(o *Options) *watchers {
	w := &watchers{
		processes: o.Processes, mayAnswer: o.MayAnswer, stopping: o.Stopping,
		file: filepath.Join(o.Dirs.Runtime, "watchers.json"), here: map[watcher]int{}, came: make(chan struct{}),
		grace: returnsWithin,
	}
	if b, err := smallfile.Read(w.file, 1<<20); err == nil && json.Unmarshal(b, &w.due) == nil {
		w.due = w.due[:min(len(w.due), maxWatchers)]
		w.until = time.Now().Add(returnsWithin)
	}
	return w
}

// comesBack reports whether somebody who followed the requests can be expected back:
// the process is still the same and could answer. The file alone proves nothing.
func (w *watchers) comesBack(one watcher) bool {
	p, err := w.processes.Lookup(one.PID)
	if err != nil || p.Start != one.Start {
		return false
	}
	ok, _ := w.mayAnswer(proc.Cred{UID: os.Getuid(), PID: one.PID})
	return ok
}

// setGrace changes how long those who follow may be gone, also for those who are
// waited for now.
func (w *watchers) setGrace(span time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.grace = span
	if len(w.due) > 0 {
		w.until = time.Now().Add(span)
	}
}

func (w *watchers) graceTime() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.grace
}

// arrived notes that somebody follows the requests. end says that they left, or, with
// hungUp, that the hub let them go and they come back.
func (w *watchers) arrived(peer proc.Cred) (end func(hungUp bool)) {
	p, err := w.processes.Lookup(peer.PID)
	if err != nil {
		return func(bool) {}
	}
	one := watcher{p.PID, p.Start}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.here[one]++
	w.due = slices.DeleteFunc(w.due, func(due watcher) bool { return due == one })
	close(w.came)
	w.came = make(chan struct{})
	w.writeFile()
	return func(hungUp bool) {
		if w.stopping() {
			return // the next hub finds them in the file
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.here[one]--; w.here[one] <= 0 {
			delete(w.here, one)
		}
		if hungUp {
			w.due, w.until = append(w.due, one), time.Now().Add(w.grace)
		}
		w.writeFile()
	}
}

// awaitReturn waits for somebody who is known to come back, no longer than limit. It
// is over at once when there is nobody of that kind, as nearly always.
func (w *watchers) awaitReturn(ctx context.Context, limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		w.mu.Lock()
		if time.Now().After(w.until) {
			w.due = nil
		}
		for len(w.due) > 0 && !w.comesBack(w.due[0]) {
			w.due = w.due[1:]
		}
		waits, came := len(w.due) > 0 && len(w.here) == 0, w.came
		w.mu.Unlock()
		if !waits {
			return
		}
		select {
		case <-came:
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond): // some may have gone
		}
	}
}

// writeFile keeps the list on disk. One that cannot be written is not worth a word:
// the next hub may take its people for absent, for a moment.
func (w *watchers) writeFile() {
	list := []watcher{}
	if time.Now().Before(w.until) {
		list = append(list, w.due...) // this hub may end before they are back
	}
	for one := range w.here {
		list = append(list, one)
	}
	if len(list) == 0 {
		_ = os.Remove(w.file)
		return
	}
	b, _ := json.Marshal(list)
	_ = atomicfile.Write(w.file, b)
}
