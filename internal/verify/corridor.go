package verify

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Decide is what an act's hook thinks of an event. n counts the events of the
// same native name before it.
type Decide func(ev *event.Event, n int) event.Decision

// watcher stands in the corridor: it keeps every event that passes and has the
// act decide.
type watcher struct {
	catalogue *agent.Catalogue
	decide    Decide
	forget    bool // what was decided: the work of a saboteur

	mu      sync.Mutex
	seen    []Seen
	last    time.Time // when the newest came
	counts  map[string]int
	changed chan struct{}
}

func newWatcher(c *agent.Catalogue, decide Decide) *watcher {
	return &watcher{catalogue: c, decide: decide, counts: map[string]int{}, changed: make(chan struct{})}
}

// hookEntry is the hook that puts the watcher into the corridor.
func (w *watcher) hookEntry() (*hook.Entry, error) {
	return hook.NewEntry(hook.Registration{
		ID: "verify", Agent: hook.Any, HookType: hook.Any, Handler: "builtin", Target: "verify", Mode: hook.Guard,
	}, w, "global")
}

// Handle keeps the event and gives the act's opinion.
func (w *watcher) Handle(_ context.Context, call *hook.Call) (event.Decision, error) {
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

func (w *watcher) allSeen() []Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Seen(nil), w.seen...)
}

// hasPassed reports whether an event that ok accepts has passed.
func (w *watcher) hasPassed(ok func(*event.Event) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.seen {
		if ok(&w.seen[i].Event) {
			return true
		}
	}
	return false
}

// stuckAt reports whether the newest event is of a kind, and nothing came after
// it for a while.
func (w *watcher) stuckAt(kind event.Kind, d time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen) > 0 && w.seen[len(w.seen)-1].Event.Kind == kind && time.Since(w.last) > d
}

// waitForOne blocks until an event that ok accepts has passed.
func (w *watcher) waitForOne(ctx context.Context, ok func(*event.Event) bool) bool {
	return w.waitFor(ctx, 1, ok)
}

// waitFor blocks until so many of them have passed.
func (w *watcher) waitFor(ctx context.Context, times int, ok func(*event.Event) bool) bool {
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

var tagPattern = lazyregexp.New(`\bran-([a-z0-9][a-z0-9-]*[a-z0-9])\b`)

// tagOf is the tag of the scripted command that an event is about.
func tagOf(ev *event.Event) string {
	if ev.Tool == nil {
		return ""
	}
	for _, c := range ev.Tool.Commands {
		if m := tagPattern.FindStringSubmatch(c[:min(len(c), 4096)]); m != nil {
			return m[1]
		}
	}
	return ""
}

// taggedCommand is a scripted command: it leaves a file and says a word.
func taggedCommand(tag string) string { return "touch ran-" + tag + "; echo out-" + tag }

// changedInput puts another command into a call, under the key it came in.
func changedInput(ev *event.Event, with string) json.RawMessage {
	var input map[string]json.RawMessage
	if ev.Tool == nil || json.Unmarshal(ev.Tool.Input, &input) != nil {
		return nil
	}
	text, _ := json.Marshal(with)
	for key, value := range input {
		var old string
		if json.Unmarshal(value, &old) == nil && tagPattern.MatchString(old) {
			b, _ := json.Marshal(map[string]json.RawMessage{key: text})
			return b
		}
	}
	return nil
}

// changedOutput puts another text into a result, in the form it came in:
// Claude Code insists on the tool's own object.
func changedOutput(ev *event.Event, with string) json.RawMessage {
	text, _ := json.Marshal(with)
	var object map[string]json.RawMessage
	if ev.Tool == nil || json.Unmarshal(ev.Tool.Output, &object) != nil || object["stdout"] == nil {
		return text
	}
	object["stdout"] = text
	b, _ := json.Marshal(object)
	return b
}

// outside shows the processes of the machine, but for this one: the hub of a
// stage lives in the process that also starts the agents, and would take them
// for children of one of its hooks.
type outside struct {
	proc.Table
	self int
}

func (t outside) Lookup(pid int) (proc.Process, error) {
	if pid == t.self {
		return proc.Process{}, proc.ErrGone
	}
	return t.Table.Lookup(pid)
}
