package trust

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// projectIdentity names a project so that all working trees of one repository share
// it: the repository's common git folder and the project's path within the
// tree. Outside of a repository it is the folder itself. head is the file that
// names the branch of this tree, "" outside.
//
// A .git file is only believed when the repository it points into points back:
// otherwise an unpacked archive could claim to be a tree of a repository the
// user trusts and have its hooks run on hostile code.
func projectIdentity(root string) (common, rel, head string) {
	for dir := root; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		if err == nil {
			rel, relErr := filepath.Rel(dir, root)
			switch {
			case relErr != nil:
			case info.IsDir() && fileExists(filepath.Join(git, "HEAD")):
				return git, filepath.ToSlash(rel), filepath.Join(git, "HEAD")
			case info.Mode().IsRegular():
				if common, private := worktreeOf(git); common != "" {
					return common, filepath.ToSlash(rel), filepath.Join(private, "HEAD")
				}
			}
			return root, "", ""
		}
		if dir == filepath.Dir(dir) {
			return root, "", ""
		}
	}
}

// worktreeOf returns the common git folder a working tree's .git file belongs to and
// the tree's own within it, "" when they do not name each other.
func worktreeOf(gitFile string) (common, private string) {
	private = pathIn(gitFile, "gitdir:", filepath.Dir(gitFile))
	if private == "" {
		return "", ""
	}
	common = pathIn(filepath.Join(private, "commondir"), "", private)
	if common == "" || filepath.Dir(private) != filepath.Join(common, "worktrees") {
		return "", ""
	}
	if back := pathIn(filepath.Join(private, "gitdir"), "", private); back != gitFile {
		return "", ""
	}
	return common, private
}

const (
	detached   = ""  // no branch is checked out: a rebase, a bisect
	noBranches = "-" // outside of a repository
)

// branchOf returns the branch that HEAD names.
func branchOf(head *userfile.Source) string {
	if head.Path == "" {
		return noBranches
	}
	data, _, err := head.Read()
	if err != nil {
		return detached
	}
	ref, ok := strings.CutPrefix(string(data), "ref:")
	if !ok {
		return detached
	}
	return strings.TrimSpace(ref)
}

// pathIn returns the path a one-line file holds, real and absolute.
func pathIn(file, prefix, base string) string {
	data, err := userfile.ReadFile(file, 4096)
	if err != nil {
		return ""
	}
	text, ok := strings.CutPrefix(string(data), prefix)
	if !ok {
		return ""
	}
	path := strings.TrimSpace(text)
	if path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return resolved
}

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
