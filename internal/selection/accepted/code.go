package accepted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/files"
)

// CodeReader returns a function that reads the files of a hook: root and what it imports,
// in their active version. A file seen for the first time is used as it is from then on;
// [Store.IsNew] reports that it wasn't accepted. Once an accepted file was loaded
// ([Store.MarkLoaded]), files that it didn't use then aren't active.
func (s *Store) CodeReader(root string) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) { return s.readCode(root, path) }
}

// MarkLoaded records that a file was loaded with everything it imports.
func (s *Store) MarkLoaded(root string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for path := range s.reads[root] {
		if k, known := s.now.Files[path]; known && k.Accepted == "" && !k.Ran {
			k.Ran, changed = true, true
			s.now.Files[path] = k
		}
	}
	if k := s.now.Files[root]; k.Accepted != "" && !k.Loaded {
		k.Loaded, changed = true, true
		s.now.Files[root] = k
	}
	if changed {
		_ = s.writeRecord() // what is wrong is told by State
	}
}

// neverRan reports whether a file is a hook that was neither accepted nor ever complete: if
// it's removed, no protection is lost. The caller holds the lock.
func (s *Store) neverRan(path string) bool {
	k := s.now.Files[path]
	return k.Accepted == "" && !k.Ran && filepath.Dir(path) == s.HooksFolder() && isHookFile(filepath.Base(path))
}

// readCode gives the content in force of a file that the hook root is made of.
func (s *Store) readCode(root, path string) ([]byte, error) {
	live, err := userfile.ReadFile(path, maxFileSize)
	if err == nil && live == nil {
		live = []byte{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads[root] == nil {
		s.reads[root] = map[string]bool{}
	}
	s.reads[root][path] = true
	if err == nil {
		s.acceptFollowedFile(path, live)
	}
	k, known := s.now.Files[path]
	if !known {
		if err != nil {
			return nil, err
		}
		if len(s.now.Files) >= maxFiles {
			return nil, fmt.Errorf("%s: hooks are made of more than %d files", path, maxFiles)
		}
		user := s.now.Files[root]
		if user.Loaded {
			return nil, errMissing(path)
		}
		fresh := kept{InForce: s.contents.keep(live), Runs: canRun(path)}
		if user.Accepted != "" { // it belongs to what was just accepted
			fresh.Accepted, fresh.InForce = fresh.InForce, ""
		}
		s.now.Files[path] = fresh
		_ = s.writeRecord() // what is wrong is told by State; it is in force all the same
		return live, nil
	}
	if err == nil && hashOf(live) == k.inForce() {
		return live, nil
	}
	content, err := s.contents.read(k.inForce())
	if err != nil {
		return nil, err
	}
	if content == nil {
		return nil, errMissing(path)
	}
	return content, nil
}

// AcceptNamed accepts a file of code that accepted settings name and that was
// never seen before.
func (s *Store) AcceptNamed(path string) {
	live, err := userfile.ReadFile(path, maxFileSize)
	s.mu.Lock()
	defer s.mu.Unlock()
	k, known := s.now.Files[path]
	if err != nil || known && (k.Accepted != "" || hashOf(live) != k.InForce) || len(s.now.Files) >= maxFiles {
		return
	}
	s.acceptContent(path, append([]byte{}, live...))
	_ = s.writeRecord() // what is wrong is told by State
}

// IsNew reports whether a file of code is active although you haven't accepted it.
func (s *Store) IsNew(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Files[path].Accepted == ""
}

// KnownIn lists the names of files right in a folder that are in force, whether
// they are still there or not. Hooks that are gone and never ran are forgotten.
func (s *Store) KnownIn(folder string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for path, k := range s.now.Files {
		if filepath.Dir(path) != folder || k.inForce() == "" {
			continue
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && s.neverRan(path) {
			delete(s.now.Files, path)
			_ = s.writeRecord() // what is wrong is told by State
			continue
		}
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	return names
}

// copiesDir holds programs as they were accepted, to be run.
const copiesDir = "accepted-programs"

// Program returns the path to run instead of a program that a hook names: the program
// itself while it is the active version, otherwise a copy of that version. A program
// seen for the first time is accepted with the hook.
func (s *Store) Program(path string, hookAccepted bool) (string, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxFileSize {
		return path, nil // too large to be kept; docs/security.md says so
	}
	live, err := userfile.ReadFile(path, maxFileSize)
	s.mu.Lock()
	k, known := s.now.Files[path]
	s.mu.Unlock()
	usable := !k.Runs || canRun(path) // somebody may have taken the permission away
	if err == nil && usable && known && (k.Accepted != "" || !hookAccepted) && hashOf(live) == k.inForce() {
		return path, nil // as ever: nothing to accept, nothing to copy
	}
	if hookAccepted {
		s.AcceptNamed(path)
	}
	content, err := s.readCode(path, path)
	if err != nil {
		return "", fmt.Errorf("%s was changed and its accepted content cannot be used: %w; run `hookmux config accept`",
			path, err)
	}
	live, err = userfile.ReadFile(path, maxFileSize)
	if err == nil && usable && hashOf(live) == hashOf(content) {
		return path, nil
	}
	folder := filepath.Join(s.opt.Copies, copiesDir, hashOf(content)[:16])
	copied := filepath.Join(folder, filepath.Base(path))
	if old, err := userfile.ReadFile(copied, maxFileSize); err == nil && hashOf(old) == hashOf(content) {
		return copied, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	if err := files.WriteSynced(copied, content); err != nil {
		return "", err
	}
	return copied, os.Chmod(copied, 0o700)
}

// canRun reports whether a file may be run as a program.
func canRun(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

// Content is a file as it counts.
type Content struct {
	Path string
	Data []byte
}

// AgentsInForce returns the user's descriptions of agents as last accepted, by path. It
// returns none if nothing was accepted, or the accepted version is gone. A description
// decides what guards see of a call, so it's never active unaccepted. Descriptions are read
// from the copies, never from the user's folder: no file can be swapped between the check
// and the read.
func (s *Store) AgentsInForce() []Content {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Content
	for path, k := range s.now.Files {
		if filepath.Dir(path) != s.AgentsFolder() || k.Accepted == "" || s.now.State != Accepted {
			continue
		}
		content, err := s.contents.read(k.Accepted)
		if err != nil {
			s.problem = err
			continue
		}
		list = append(list, Content{path, content})
	}
	slices.SortFunc(list, func(a, b Content) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// IsUsersFile reports whether a path names a file that is the user's own to
// change: programs of the system are not.
func (s *Store) IsUsersFile(path, home string) bool {
	s.mu.Lock()
	_, known := s.now.Files[path]
	s.mu.Unlock()
	if known {
		return true
	}
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() {
		return false
	}
	below := home != "" && strings.HasPrefix(filepath.Clean(path), filepath.Clean(home)+string(filepath.Separator))
	uid, _, ok := files.Owner(info)
	return below || ok && uid != 0 && uid == os.Getuid()
}
