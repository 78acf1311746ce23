package tsmodule

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Notices do not tell of everything: not of a file that a link leads to, nor of
// a folder that was taken away and is back. A gate that is changed there would
// stay in force as it was, so files are also looked at now and then.

const pollEvery = time.Second

// lost forgets a folder that is gone, so that it is watched again once files of
// it are loaded.
func (w *watcher) lost(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirs[path] {
		delete(w.dirs, path)
		_ = w.notify.Remove(path) // where a folder was only renamed
	}
}

// poll has files loaded anew that are others than at the last look.
func (w *watcher) poll() {
	w.mu.Lock()
	list := make([]*Module, 0, len(w.modules))
	for m := range w.modules {
		list = append(list, m)
	}
	w.mu.Unlock()
	for _, m := range list {
		now := m.look()
		w.mu.Lock()
		before, known := w.looks[m]
		switch {
		case w.closed:
		case m.unloaded():
			delete(w.modules, m)
			delete(w.looks, m)
		default:
			w.looks[m] = now
			if (!known || !slices.EqualFunc(before, now, sameLook)) && w.due[m] == nil {
				w.later(m) // which does nothing when the content is what was loaded
			}
		}
		w.mu.Unlock()
	}
}

// look is what the file and all it is made from are like on disk. What a file
// that does not load lacks may turn up beside it.
func (m *Module) look() []fs.FileInfo {
	m.mu.Lock()
	paths := append([]string{m.path}, m.info.Files...)
	if m.broken != nil {
		paths = append(paths, filepath.Dir(m.path))
	}
	m.mu.Unlock()
	list := make([]fs.FileInfo, len(paths))
	for i, path := range paths {
		list[i], _ = os.Stat(path) // nil is a look, too
	}
	return list
}

func sameLook(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
