package tshook

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hookmux/hookmux/internal/tshook/bundle"
	"github.com/hookmux/hookmux/internal/tshook/engine"
)

// watcher reloads files when they change. It watches folders, because editors
// replace files.
type watcher struct {
	notify *fsnotify.Watcher
	done   chan struct{}

	mu        sync.Mutex
	dirs      map[string]bool
	tsHooks   map[*Hook]bool
	due       map[*Hook]*time.Timer
	lastStats map[*Hook][]fs.FileInfo // see checkFiles
	closed    bool
}

// quietTime is how long a file must stay unchanged before it is read: a save is
// often several writes.
const quietTime = 100 * time.Millisecond

// watchTSHook watches a hook's files. Without file notices it reports that.
func (e *Engine) watchTSHook(m *Hook) {
	e.mu.Lock()
	if e.watcher == nil && !e.closed {
		notify, err := fsnotify.NewWatcher()
		if err != nil {
			e.mu.Unlock()
			m.tellRecorder(Problem{Hook: m.path, Text: "changes are not noticed: " + err.Error()})
			return
		}
		e.watcher = &watcher{notify: notify, done: make(chan struct{}), dirs: map[string]bool{},
			tsHooks: map[*Hook]bool{}, due: map[*Hook]*time.Timer{}, lastStats: map[*Hook][]fs.FileInfo{}}
		go e.watcher.readNotices()
	}
	w := e.watcher
	e.mu.Unlock()
	if w != nil {
		w.addTSHook(m)
	}
}

func (w *watcher) addTSHook(m *Hook) {
	files := m.Info().Files
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tsHooks[m] = true
	for _, file := range append(files, m.path) {
		dir := filepath.Dir(file)
		if !w.dirs[dir] && w.notify.Add(dir) == nil {
			w.dirs[dir] = true
		}
	}
}

func (w *watcher) readNotices() {
	defer close(w.done)
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			w.checkFiles()
		case e, ok := <-w.notify.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				w.forgetFolder(e.Name)
			}
			if e.Op != fsnotify.Chmod {
				w.fileChanged(e.Name)
			}
		case _, ok := <-w.notify.Errors:
			if !ok {
				return
			}
		}
	}
}

func (w *watcher) fileChanged(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	for m := range w.tsHooks {
		if path != m.path && !slices.Contains(m.Info().Files, path) {
			continue
		}
		if timer := w.due[m]; timer != nil {
			timer.Reset(quietTime)
			continue
		}
		w.scheduleReload(m)
	}
}

func (w *watcher) scheduleReload(m *Hook) {
	w.due[m] = time.AfterFunc(quietTime, func() { w.reloadIfStale(m) })
}

func (w *watcher) reloadIfStale(m *Hook) {
	w.mu.Lock()
	delete(w.due, m)
	closed := w.closed
	w.mu.Unlock()
	if closed || m.isUnloaded() || !m.isStale() {
		return
	}
	_ = m.Reload(context.Background()) // it reported itself
	w.addTSHook(m)                     // its imports may have changed
}

// LoadStale loads every file again whose sources changed since it was loaded.
func (e *Engine) LoadStale(ctx context.Context) {
	for _, m := range e.TSHooks() {
		if m.isUnloaded() || !m.isStale() {
			continue
		}
		_ = m.Reload(ctx) // it reported itself
		e.mu.Lock()
		w := e.watcher
		e.mu.Unlock()
		if w != nil {
			w.addTSHook(m) // it may be made from other files now
		}
	}
}

func (w *watcher) stopWatching() {
	w.mu.Lock()
	w.closed = true
	for _, timer := range w.due {
		timer.Stop()
	}
	w.mu.Unlock()
	_ = w.notify.Close()
	<-w.done
}

func (m *Hook) isUnloaded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Is(m.broken, engine.ErrClosed)
}

// isStale reports whether any file's content differs from what was loaded: a file
// that was only touched keeps its engine and its memory.
func (m *Hook) isStale() bool {
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
