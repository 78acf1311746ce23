package hub

import (
	"cmp"
	"path/filepath"
	"time"
)

// folder is where a folder belongs, as it was seen last.
type folder struct {
	root       string
	repository string // that it is in
	until      time.Time
}

// longestPath is what Linux takes for a path; no folder is further away.
const longestPath = 4096

func (r *rules) projectOf(cwd string) string { return r.folderOf(cwd).root }

// repositoryOf is the project a folder belongs to as people say it: the one
// with hooks of its own, else the repository.
func (r *rules) repositoryOf(cwd string) string {
	f := r.folderOf(cwd)
	return cmp.Or(f.root, f.repository)
}

func (r *rules) folderOf(cwd string) folder {
	if cwd == "" || len(cwd) > longestPath || !filepath.IsAbs(cwd) {
		return folder{}
	}
	r.mu.Lock()
	f, ok := r.folders[cwd]
	r.mu.Unlock()
	if ok && time.Now().Before(f.until) {
		return f
	}
	r.looks.do("folder:"+cwd, ok, func() {
		root, repository := r.registry.FindProject(cwd), r.registry.Repository(cwd)
		r.mu.Lock()
		if len(r.folders) > keepFolders {
			clear(r.folders)
		}
		r.folders[cwd] = folder{root, repository, time.Now().Add(5 * lookAgain)}
		r.mu.Unlock()
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if now, ok := r.folders[cwd]; ok {
		return now
	}
	return f
}
