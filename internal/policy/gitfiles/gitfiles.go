// Package gitfiles reads what rules ask about a repository from git's own files: the branch, the
// remote, which files are tracked, whether tracked files were changed.
//
// Contract: it starts no program, because a repository's configuration can name programs that
// git runs, and agents write there. It reads regular files of limited size, follows no link
// inside of .git, and gives up after a deadline; it reports what it doesn't know.
package gitfiles

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Limits of what is read.
const (
	maxSmall = 1 << 20  // HEAD, config
	maxIndex = 64 << 20 // the index
	// Patience is how long looking at a work tree may take.
	Patience = 20 * time.Millisecond
)

// Repository is the repository around a folder.
type Repository struct {
	root   string // the work tree
	git    string // its own git folder
	common string // the git folder that all its work trees share
	limit  time.Duration

	index     *index
	indexRead bool
}

// Find looks for the repository around dir; nil if there is none.
func Find(dir string) *Repository {
	if !filepath.IsAbs(dir) {
		return nil
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		dot := filepath.Join(at, ".git")
		info, err := os.Lstat(dot)
		switch {
		case err == nil && info.IsDir():
			return &Repository{root: at, git: dot, common: dot, limit: Patience}
		case err == nil && info.Mode().IsRegular():
			if r := linkedRepository(at, dot); r != nil {
				return r
			}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// linkedRepository reads a .git file: a further work tree, or a submodule.
func linkedRepository(root, dot string) *Repository {
	text, ok := readSmall(dot)
	if !ok {
		return nil
	}
	git, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: ")
	if !ok {
		return nil
	}
	if !filepath.IsAbs(git) {
		git = filepath.Join(root, git)
	}
	r := &Repository{root: root, git: filepath.Clean(git), common: filepath.Clean(git), limit: Patience}
	if common, ok := readSmall(filepath.Join(git, "commondir")); ok {
		common = strings.TrimSpace(common)
		if !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
		r.common = filepath.Clean(common)
	}
	return r
}

// MainTree returns the work tree that this one was added to by `git worktree`; "" for a
// repository that isn't one.
func (r *Repository) MainTree() string {
	if r.common == r.git || filepath.Base(r.common) != ".git" {
		return ""
	}
	return filepath.Dir(r.common)
}

// readSmall reads a regular file of limited size.
func readSmall(path string) (string, bool) {
	b, ok := readRegular(path, maxSmall)
	return string(b), ok
}

// readRegular reads a regular file of at most limit bytes, through no link.
func readRegular(path string, limit int64) ([]byte, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, false
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil || !os.SameFile(info, opened) {
		return nil, false
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || int64(len(b)) > limit {
		return nil, false
	}
	return b, true
}

// Root returns the top of the work tree.
func (r *Repository) Root() string { return r.root }

// Branch returns the branch that is checked out, "" if none is; ok is false if that can't be
// read.
func (r *Repository) Branch() (name string, ok bool) {
	text, ok := readSmall(filepath.Join(r.git, "HEAD"))
	if !ok {
		return "", false
	}
	text = strings.TrimSpace(text)
	if ref, found := strings.CutPrefix(text, "ref:"); found {
		name, found = strings.CutPrefix(strings.TrimSpace(ref), "refs/heads/")
		// A repository with the newer format of references keeps a placeholder here.
		return name, found && name != ".invalid"
	}
	return "", len(text) >= 40
}

// Remote returns the address of the branch's remote, else of origin; "" if there is none.
func (r *Repository) Remote() (address string, ok bool) {
	text, ok := readSmall(filepath.Join(r.common, "config"))
	if !ok {
		return "", false
	}
	settings := parseConfig(text)
	if _, includes := settings["include.path"]; includes {
		return "", false // another file may say otherwise
	}
	name := "origin"
	if branch, ok := r.Branch(); ok && branch != "" {
		if own := settings["branch."+branch+".remote"]; own != "" {
			name = own
		}
	}
	if push := settings["remote."+name+".pushurl"]; push != "" {
		return push, true
	}
	return settings["remote."+name+".url"], true
}

// parseConfig reads git's configuration into section.name.key.
func parseConfig(text string) map[string]string {
	settings := map[string]string{}
	section := ""
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, maxSmall)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			section = sectionName(line)
		default:
			key, value, _ := strings.Cut(line, "=")
			value = strings.TrimSpace(value)
			if i := strings.IndexAny(value, "#;"); i > 0 && value[i-1] == ' ' && !strings.Contains(value, `"`) {
				value = strings.TrimSpace(value[:i])
			}
			settings[section+"."+strings.ToLower(strings.TrimSpace(key))] = strings.Trim(value, `"`)
		}
	}
	return settings
}

// sectionName turns [branch "main"] into branch.main.
func sectionName(line string) string {
	inner, _, _ := strings.Cut(strings.TrimPrefix(line, "["), "]")
	name, sub, quoted := strings.Cut(inner, `"`)
	name = strings.ToLower(strings.TrimSpace(name))
	if !quoted {
		return name
	}
	sub, _, _ = strings.Cut(sub, `"`)
	if strings.HasPrefix(name, "include") {
		return "include" // includeIf too: what it includes may apply
	}
	return name + "." + sub
}

// Tracked reports whether git tracks a file, or anything below a folder.
func (r *Repository) Tracked(path string) (tracked, ok bool) {
	rel, err := filepath.Rel(r.root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return false, true
	}
	in, ok := r.readIndex()
	if !ok {
		return false, false
	}
	return in.holds(filepath.ToSlash(rel)), true
}

// Dirty reports whether tracked files were changed since they were put into the index. What
// is in the index but not committed yet is treated as changed if the index shows it. ok is
// false if that takes too long or can't be read.
func (r *Repository) Dirty() (dirty, ok bool) {
	in, ok := r.readIndex()
	if !ok {
		return false, false
	}
	deadline := time.Now().Add(r.limit)
	for i := range in.entries {
		if i%64 == 0 && time.Now().After(deadline) {
			return false, false
		}
		e := &in.entries[i]
		if e.skip {
			continue
		}
		info, err := os.Lstat(filepath.Join(r.root, e.name))
		if err != nil || !e.unchanged(info) {
			return true, true
		}
	}
	// Whether the index itself differs from the last commit isn't known without git's objects. It
	// does if a change discarded its cached tree.
	if in.staged {
		return true, true
	}
	return false, true
}

// readIndex reads the index once.
func (r *Repository) readIndex() (*index, bool) {
	if !r.indexRead {
		r.indexRead = true
		b, ok := readRegular(filepath.Join(r.git, "index"), maxIndex)
		switch {
		case ok:
			r.index = parseIndex(b)
		case !exists(filepath.Join(r.git, "index")):
			r.index = &index{} // nothing was ever added
		}
	}
	return r.index, r.index != nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

var indexMagic = []byte("DIRC")

func hasMagic(b []byte) bool { return bytes.HasPrefix(b, indexMagic) }
