package tsmodule

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hookmux/hookmux/internal/tsmodule/bundle"
	"github.com/hookmux/hookmux/internal/tsmodule/engine"
)

// watcher loads files anew when they change. Folders are watched, not files:
// editors replace files.
type watcher struct {
	notify *fsnotify.Watcher
	done   chan struct{}

	mu      sync.Mutex
	dirs    map[string]bool
	modules map[*Module]bool
	due     map[*Module]*time.Timer
	looks   map[*Module][]fs.FileInfo // see poll
	closed  bool
}

// settle is how long a file must be left alone before it is read: a save is
// often several writes.
const settle = 100 * time.Millisecond

// watch adds a module; a system without file notices goes without.
func (e *Engine) watch(m *Module) {
	e.mu.Lock()
	if e.watcher == nil && !e.closed {
		notify, err := fsnotify.NewWatcher()
		if err != nil {
			e.mu.Unlock()
			m.report(Problem{Module: m.path, Text: "changes are not noticed: " + err.Error()})
			return
		}
		e.watcher = &watcher{notify: notify, done: make(chan struct{}), dirs: map[string]bool{}, modules: map[*Module]bool{}, due: map[*Module]*time.Timer{}, looks: map[*Module][]fs.FileInfo{}}
		go e.watcher.loop()
	}
	w := e.watcher
	e.mu.Unlock()
	if w != nil {
		w.add(m)
	}
}

func (w *watcher) add(m *Module) {
	files := m.Info().Files
	w.mu.Lock()
	defer w.mu.Unlock()
	w.modules[m] = true
	for _, file := range append(files, m.path) {
		dir := filepath.Dir(file)
		if !w.dirs[dir] && w.notify.Add(dir) == nil {
			w.dirs[dir] = true
		}
	}
}

func (w *watcher) loop() {
	defer close(w.done)
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			w.poll()
		case e, ok := <-w.notify.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				w.lost(e.Name)
			}
			if e.Op != fsnotify.Chmod {
				w.changed(e.Name)
			}
		case _, ok := <-w.notify.Errors:
			if !ok {
				return
			}
		}
	}
}

func (w *watcher) changed(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	for m := range w.modules {
		if path != m.path && !slices.Contains(m.Info().Files, path) {
			continue
		}
		if timer := w.due[m]; timer != nil {
			timer.Reset(settle)
			continue
		}
		w.later(m)
	}
}

func (w *watcher) later(m *Module) { w.due[m] = time.AfterFunc(settle, func() { w.reload(m) }) }

func (w *watcher) reload(m *Module) {
	w.mu.Lock()
	delete(w.due, m)
	closed := w.closed
	w.mu.Unlock()
	if closed || m.unloaded() || !m.stale() {
		return
	}
	_ = m.Reload(context.Background()) // it reported itself
	w.add(m)                           // it may be made from other files now
}

func (w *watcher) close() {
	w.mu.Lock()
	w.closed = true
	for _, timer := range w.due {
		timer.Stop()
	}
	w.mu.Unlock()
	_ = w.notify.Close()
	<-w.done
}

func (m *Module) unloaded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.broken == engine.ErrClosed
}

// stale reports whether any file differs from what was loaded: a touch is no
// reason to lose what a hook keeps in memory.
func (m *Module) stale() bool {
	m.mu.Lock()
	src, inputs, broken := m.src, m.inputs, m.broken
	m.mu.Unlock()
	if broken != nil || len(inputs) == 0 {
		return true
	}
	for _, in := range inputs {
		content, err := src.Read(in.Path)
		if err != nil || bundle.Hash(content) != in.Hash {
			return true
		}
	}
	return false
}
