package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// DirName is the folder of a project that holds its hooks.
const DirName = ".hookmux"

// FileName is the file of hooks, in a project's folder and in the user's.
const FileName = "hooks.json"

// ProjectFile returns where the hooks of the project at root are.
func ProjectFile(root string) string { return filepath.Join(root, DirName, FileName) }

// FindProject returns the nearest folder at or above dir that has hooks of its own,
// "" when there is none. It looks no further up than the root of dir's
// repository or the home folder, never at a .hookmux that belongs to another
// user than this one or root, and never takes hookmux's own folders for a
// project.
func (r *Registry) FindProject(dir string) string {
	if len(dir) > paths.Longest {
		return ""
	}
	dir = paths.Real(dir)
	home := paths.Real(r.opt.Home)
	for {
		if r.isProject(dir, home) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir || dir == home || isRepoRoot(dir) {
			return ""
		}
		dir = parent
	}
}

// RootFor returns the folder a new project registration belongs to: the project dir
// is in, else the root of its repository, else dir itself.
func (r *Registry) RootFor(dir string) string {
	if root := r.FindProject(dir); root != "" {
		return root
	}
	dir = paths.Real(dir)
	home := paths.Real(r.opt.Home)
	for at := dir; ; at = filepath.Dir(at) {
		if isRepoRoot(at) {
			return at
		}
		if at == home || at == filepath.Dir(at) {
			return dir
		}
	}
}

// Repository returns the root of the repository that dir is in, "" when there is
// none below the home folder: a home that is a repository itself (dotfiles)
// would make everything one project.
func (r *Registry) Repository(dir string) string {
	if len(dir) > paths.Longest {
		return ""
	}
	home := paths.Real(r.opt.Home)
	for at := paths.Real(dir); at != home && at != filepath.Dir(at); at = filepath.Dir(at) {
		if isRepoRoot(at) {
			return at
		}
	}
	return ""
}

func (r *Registry) isProject(dir, home string) bool {
	if home != "" && dir != home && strings.HasPrefix(home, strings.TrimSuffix(dir, "/")+"/") {
		return false // above the home folder
	}
	if r.opt.KnownProject != nil && r.opt.KnownProject(dir) {
		return true
	}
	own := filepath.Join(dir, DirName)
	info, err := os.Stat(own)
	if err != nil || !info.IsDir() || !r.isTrustedOwner(info) {
		return false
	}
	if link, err := os.Lstat(own); err != nil || !r.isTrustedOwner(link) {
		return false
	}
	resolved := paths.Real(own)
	for _, ours := range r.opt.OwnDirs {
		if ours != "" && resolved == paths.Real(ours) {
			return false
		}
	}
	// A file another user may write is another user's project.
	file, err := os.Stat(filepath.Join(own, FileName))
	return errors.Is(err, fs.ErrNotExist) || err == nil && r.isTrustedOwner(file)
}

func (r *Registry) isTrustedOwner(info fs.FileInfo) bool {
	uid, _, ok := files.Owner(info)
	return !ok || uid == r.uid || uid == 0
}

// isRepoRoot reports whether dir is the top of a git working tree.
func isRepoRoot(dir string) bool {
	git := filepath.Join(dir, ".git")
	info, err := os.Stat(git)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return true
	}
	_, err = os.Stat(filepath.Join(git, "HEAD"))
	return err == nil
}
