package selection

import (
	"cmp"
	"path/filepath"
	"time"
)

// longestPath is the longest path that Linux takes; no folder is further away.
const longestPath = 4096

// ProjectOf returns the project with hooks of its own that a folder is in.
func (r *Service) ProjectOf(cwd string) string { return r.folderOf(cwd).root }

// RepositoryOf returns the project that a folder belongs to in everyday terms: the one with
// hooks of its own, otherwise the repository.
func (r *Service) RepositoryOf(cwd string) string {
	f := r.folderOf(cwd)
	return cmp.Or(f.root, f.repository)
}

func (r *Service) folderOf(cwd string) folder {
	if cwd == "" || len(cwd) > longestPath || !filepath.IsAbs(cwd) {
		return folder{}
	}
	r.mu.Lock()
	f, ok := r.folders.Get(cwd)
	r.mu.Unlock()
	if ok && time.Now().Before(f.until) {
		return f
	}
	r.loads.runTimed("folder:"+cwd, ok, func() {
		root, repository := r.Registry.FindProject(cwd), r.Registry.Repository(cwd)
		r.mu.Lock()
		r.folders.Put(cwd, folder{root, repository, time.Now().Add(5 * LoadAgain)}, keepFolders)
		r.mu.Unlock()
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if now, ok := r.folders.Get(cwd); ok {
		return now
	}
	return f
}
