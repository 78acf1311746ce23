package tshook

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// File notifications don't cover a file behind a symbolic link, nor a folder that was removed
// and made again. The old content of a hook would stay in force there, so files are also
// checked every second.

const pollEvery = time.Second

// forgetFolder forgets a folder that is gone, so that it is watched again when
// files in it are loaded.
func (w *watcher) forgetFolder(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirs[path] {
		delete(w.dirs, path)
		_ = w.notify.Remove(path) // if a folder was only renamed
	}
}

// checkFiles reloads hooks whose files differ from the last check.
func (w *watcher) checkFiles() {
	w.mu.Lock()
	list := make([]*Hook, 0, len(w.tsHooks))
	for m := range w.tsHooks {
		list = append(list, m)
	}
	w.mu.Unlock()
	for _, m := range list {
		now := m.statFiles()
		w.mu.Lock()
		before, known := w.lastStats[m]
		switch {
		case w.closed:
		case m.isUnloaded():
			delete(w.tsHooks, m)
			delete(w.lastStats, m)
		default:
			w.lastStats[m] = now
			if (!known || !slices.EqualFunc(before, now, sameStat)) && w.due[m] == nil {
				w.scheduleReload(m) // does nothing when the content is unchanged
			}
		}
		w.mu.Unlock()
	}
}

// statFiles returns the state of the hook's files on disk. For a file that doesn't load it
// includes the folder: a missing import may appear there.
func (m *Hook) statFiles() []fs.FileInfo {
	m.mu.Lock()
	paths := append([]string{m.path}, m.info.Files...)
	if m.broken != nil {
		paths = append(paths, filepath.Dir(m.path))
	}
	m.mu.Unlock()
	list := make([]fs.FileInfo, len(paths))
	for i, path := range paths {
		list[i], _ = os.Stat(path) // nil means a missing file
	}
	return list
}

func sameStat(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
