package hub

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
)

// runs are the files that `hookmux run --hook` loads for one launch. They
// count for what comes from below the process that asked, which then becomes
// the agent, and end with it. They are written down, because a hub may end
// before the agent does, and the next must not leave its guards out.
type runs struct {
	count atomic.Int32 // to pass by without the lock

	mu     sync.Mutex
	deps   services.Deps
	hub    *Hub
	list   []*oneRun
	ctx    context.Context
	cancel context.CancelFunc
}

type oneRun struct {
	PID   int      `json:"pid"`
	Start uint64   `json:"start"`
	Files []string `json:"files"`
}

func (one *oneRun) owner() string {
	return "run:" + strconv.Itoa(one.PID) + ":" + strconv.FormatUint(one.Start, 10)
}

func (r *runs) file() string { return filepath.Join(r.deps.Dirs.State, "runs.json") }

// open takes up what an earlier hub knew.
func (r *runs) open(h *Hub) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hub, r.deps = h, h.deps
	r.ctx, r.cancel = context.WithCancel(h.ctx)
	b, err := os.ReadFile(r.file())
	if err != nil {
		return
	}
	var list []*oneRun
	if err := json.Unmarshal(b, &list); err != nil {
		h.deps.Problems.Raise("runs", r.file()+": cannot be read, so hooks given to `hookmux run --hook` do not count for sessions that are open", "start those sessions anew")
		return
	}
	for _, one := range list {
		if p, err := h.deps.Processes.Lookup(one.PID); err == nil && p.Start == one.Start {
			r.watch(one)
		}
	}
	r.save()
}

func (r *runs) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		r.cancel()
	}
}

// add remembers a launch before it begins.
func (r *runs) add(p proc.Process, files []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch(&oneRun{PID: p.PID, Start: p.Start, Files: files})
	return r.save()
}

// watch keeps a launch until its process ends.
func (r *runs) watch(one *oneRun) {
	for i, old := range r.list {
		if old.PID == one.PID && old.Start == one.Start {
			r.list[i] = one
			return
		}
	}
	r.list = append(r.list, one)
	r.count.Store(int32(len(r.list)))
	gone := r.deps.WatchExit(r.ctx, one.PID, one.Start)
	ctx := r.ctx
	r.deps.Background.Add(1)
	go func() {
		defer r.deps.Background.Done()
		if gone == nil {
			gone = r.poll(ctx, one)
		}
		select {
		case <-gone:
			r.drop(one)
		case <-ctx.Done():
		}
	}()
}

// poll is for systems that do not tell of a process's end.
func (r *runs) poll(ctx context.Context, one *oneRun) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if p, err := r.deps.Processes.Lookup(one.PID); err != nil || p.Start != one.Start {
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return done
}

func (r *runs) drop(one *oneRun) {
	if r.ctx.Err() != nil {
		return // the hub ends; the next one looks itself
	}
	r.mu.Lock()
	for i, old := range r.list {
		if old.PID == one.PID && old.Start == one.Start {
			r.list = append(r.list[:i], r.list[i+1:]...)
			break
		}
	}
	r.count.Store(int32(len(r.list)))
	_ = r.save() // an entry too many is dropped by the next hub
	r.mu.Unlock()
	r.hub.modules.want(one.owner(), nil, 0)
}

func (r *runs) save() error {
	if len(r.list) == 0 {
		_ = os.Remove(r.file())
		return nil
	}
	b, err := json.Marshal(r.list)
	if err != nil {
		return err
	}
	return edit.Store(r.file(), b)
}

// above are the launches whose process is an agent's, or stands above it.
func (r *runs) above(p *passage, pid int) []*oneRun {
	r.mu.Lock()
	list := append([]*oneRun(nil), r.list...)
	r.mu.Unlock()
	chain := proc.Ancestry(r.deps.Processes, pid, deepest)
	var out []*oneRun
	for _, one := range list {
		found := p.caller.pid == one.PID && p.caller.start == one.Start
		for _, above := range chain {
			found = found || above.PID == one.PID && above.Start == one.Start
		}
		if found {
			out = append(out, one)
		}
	}
	return out
}

// withRuns adds what counts for this event alone: the files of its launch, and
// words that wait for its session.
func (ms *modules) withRuns(in *arrival, p *passage) []*hook.Entry {
	var more []*hook.Entry
	if ms.runs.count.Load() > 0 && !p.ev.Nested {
		for _, one := range ms.runs.above(p, in.peer.PID) {
			more = append(more, hook.Select(ms.ofRun(one), &p.ev, nil)...)
		}
	}
	if e := ms.queuedEntry(p); e != nil {
		more = append(more, e)
	}
	if len(more) == 0 {
		return p.entries
	}
	all := append(append([]*hook.Entry{}, p.entries...), more...)
	hook.Sort(all)
	return all
}

// ofRun are the hooks of a launch.
func (ms *modules) ofRun(one *oneRun) []*hook.Entry {
	var list []wanted
	for _, path := range one.Files {
		list = append(list, wanted{id: "module:" + filepath.Base(path), path: path, scope: "run"})
	}
	timeout := ms.hub.rules.config.Settings().Millis(config.HookTimeout)
	var entries []*hook.Entry
	for _, file := range ms.want(one.owner(), list, timeout) {
		entries = append(entries, ms.entriesOf(file, "module:"+filepath.Base(file.path))...)
	}
	return entries
}
