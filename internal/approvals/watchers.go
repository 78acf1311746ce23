package hub

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
)

// watchers remembers who follows the feed, beyond the end of this hub. Programs
// that do come back to the next hub a moment later; whatever an agent asks in
// that moment must not be left to it as if nobody were there.
type watchers struct {
	deps services.Deps
	hub  *Hub
	file string

	mu    sync.Mutex
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

// newWatchers reads who followed the hub before.
func newWatchers(h *Hub) *watchers {
	w := &watchers{deps: h.deps, hub: h, file: filepath.Join(h.deps.Dirs.Runtime, "watchers.json"), here: map[watcher]int{}, came: make(chan struct{})}
	if b, err := os.ReadFile(w.file); err == nil && json.Unmarshal(b, &w.due) == nil {
		w.due = w.due[:min(len(w.due), maxTalks)]
		w.until = time.Now().Add(returnsWithin)
	}
	return w
}

// returns reports whether somebody who followed the feed can be expected back:
// the process is still the same and could answer. The file alone proves nothing.
func (w *watchers) returns(one watcher) bool {
	p, err := w.deps.Processes.Lookup(one.PID)
	return err == nil && p.Start == one.Start && w.hub.mayAnswer(proc.Cred{UID: selfUID(), PID: one.PID})
}

// begin notes that somebody follows the feed. end says that they left, or, with
// hungUp, that the hub let them go and they come back.
func (w *watchers) begin(peer proc.Cred) (end func(hungUp bool)) {
	p, err := w.deps.Processes.Lookup(peer.PID)
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
	w.write()
	return func(hungUp bool) {
		if w.hub.stopping.Load() {
			return // the next hub finds them in the file
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.here[one]--; w.here[one] <= 0 {
			delete(w.here, one)
		}
		if hungUp {
			w.due, w.until = append(w.due, one), time.Now().Add(returnsWithin)
		}
		w.write()
	}
}

// await waits for somebody who is known to come back, no longer than limit. It
// is over at once when there is nobody of that kind, as nearly always.
func (w *watchers) await(ctx context.Context, limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		w.mu.Lock()
		if time.Now().After(w.until) {
			w.due = nil
		}
		for len(w.due) > 0 && !w.returns(w.due[0]) {
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

// write keeps the list on disk. One that cannot be written is not worth a word:
// the next hub may take its people for absent, for a moment.
func (w *watchers) write() {
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
	temp := w.file + ".new"
	if os.WriteFile(temp, b, 0o600) == nil {
		_ = os.Rename(temp, w.file)
	}
}
