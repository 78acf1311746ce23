package accepted

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// Kind says what happened to a file.
type Kind string

// The kinds.
const (
	Added   Kind = "added"
	Edited  Kind = "edited"
	Removed Kind = "removed"
	// NotWanted is a removed file that wasn't accepted. Its denials stay active.
	NotWanted  Kind = "removed, never accepted"
	Unreadable Kind = "unreadable"
)

// Change is a file that holds something other than what was accepted.
type Change struct {
	Path   string
	Kind   Kind
	Before []byte // nil: there was no such file
	After  []byte // nil: there is none, or it cannot be read
	Err    error  // why it cannot be read, or must not be accepted
	// InForce says that something of the new content counts already, because it
	// only refuses more.
	InForce bool
}

// Pending lists what waits for you, by path, and a hash over exactly that.
func (s *Store) Pending() ([]Change, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listPending(nil)
}

// listPending lists what waits, of the files that only names; nil names all.
// The caller holds the lock.
func (s *Store) listPending(only []string) ([]Change, string) {
	var list []Change
	sum := sha256.New()
	for _, path := range s.trackedPaths() {
		if only != nil && !slices.Contains(only, path) {
			continue
		}
		c, ok := s.compareFile(path)
		if !ok {
			continue
		}
		list = append(list, c)
		fmt.Fprintf(sum, "%q %s %v %s %v %s\n", path, c.Kind, c.Before == nil, hashOf(c.Before), c.After == nil,
			hashOf(c.After))
	}
	return list, hex.EncodeToString(sum.Sum(nil))
}

// compareFile compares a file with what was accepted of it. The caller holds
// the lock.
func (s *Store) compareFile(path string) (Change, bool) {
	k := s.now.Files[path]
	live, _, err := s.sourceOf(path).Read()
	c := Change{Path: path, After: live, InForce: k.InForce != "" && k.InForce != k.Accepted}
	c.Before, _ = s.contents.read(k.Accepted) // what is gone cannot be shown; the hashes differ all the same
	switch {
	case err != nil:
		c.Kind, c.Err = Unreadable, err
	case live == nil && k.Accepted == "":
		return c, k.InForce != "" && !s.neverRan(path) && forgetsAdded(s, &c)
	case live == nil:
		c.Kind = Removed
	case hashOf(live) == k.Accepted:
		// Something was added and taken out again: it still counts.
		return c, c.InForce && forgetsAdded(s, &c)
	case k.Accepted == "":
		c.Kind = Added
	default:
		c.Kind = Edited
	}
	if check := s.checks[path]; check != nil && c.Err == nil && live != nil {
		c.Err = check(live)
	}
	return c, true
}

// forgetsAdded describes a file whose additions were taken out again. They stay active
// until you accept that they're gone.
func forgetsAdded(s *Store, c *Change) bool {
	force, err := s.contents.read(s.now.Files[c.Path].InForce)
	if err != nil {
		return false
	}
	c.Kind, c.Before = Edited, force
	if c.After == nil {
		c.Kind = NotWanted
	}
	return true
}

func (s *Store) sourceOf(path string) *userfile.Source {
	source := s.sources[path]
	if source == nil {
		source = &userfile.Source{Path: path, Limit: maxFileSize}
		s.sources[path] = source
	}
	return source
}

// HooksFolder returns where the user's own TypeScript hooks are.
func (s *Store) HooksFolder() string { return filepath.Join(s.opt.Config, "hooks") }

// AgentsFolder returns where the user's own descriptions of agents are.
func (s *Store) AgentsFolder() string { return filepath.Join(s.opt.Config, "agents") }

// RulesFolder returns where the user's own rules are.
func (s *Store) RulesFolder() string { return filepath.Join(s.opt.Config, "rules") }

// ProgramsFolder returns where the user's own descriptions of programs are.
func (s *Store) ProgramsFolder() string { return filepath.Join(s.opt.Config, "programs") }

// trackedPaths returns all files that were accepted, are in force or would be
// settings now, by path. The caller holds the lock.
func (s *Store) trackedPaths() []string {
	set := map[string]bool{}
	for path := range s.checks {
		set[path] = true
	}
	for path := range s.now.Files {
		set[path] = true
	}
	for _, path := range slices.Concat(listFolder(s.HooksFolder(), isHookFile),
		listFolder(s.AgentsFolder(), IsAgentFile), listFolder(s.RulesFolder(), IsRulesFile),
		listFolder(s.ProgramsFolder(), IsRulesFile)) {
		set[path] = true
	}
	list := make([]string, 0, len(set))
	for path := range set {
		list = append(list, path)
	}
	slices.Sort(list)
	return list
}

func isHookFile(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".d.ts") &&
		(strings.HasSuffix(name, ".ts") || strings.HasSuffix(name, ".js"))
}

// IsAgentFile reports whether a file of this name in a folder of agents describes one.
func IsAgentFile(name string) bool { return strings.HasSuffix(name, ".yaml") }

// IsRulesFile reports whether a file of this name in a folder of rules holds
// rules.
func IsRulesFile(name string) bool {
	return !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml"))
}

// IgnoredIn lists what is in a folder of settings and isn't read, except what can't be
// mistaken for settings: notes, hidden files, and what editors leave behind.
func IgnoredIn(folder string, belongs func(name string) bool) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // who reads the folder says so
	}
	var list []string
	for _, e := range entries {
		if IsIgnored(e.Name(), belongs) || belongs(e.Name()) && e.IsDir() {
			list = append(list, filepath.Join(folder, e.Name()))
		}
	}
	return list
}

// IsIgnored reports whether a name in a folder of settings should be named because
// nothing of it is read.
func IsIgnored(name string, belongs func(name string) bool) bool {
	ending := strings.ToLower(filepath.Ext(name))
	switch {
	case belongs(name), strings.HasSuffix(name, "~"), slices.Contains([]string{".md", ".txt", ".swp"}, ending):
		return false
	case strings.HasPrefix(name, "."):
		return ending == ".yaml" || ending == ".yml"
	}
	return true
}

// listFolder lists the files right in a folder that are settings.
func listFolder(folder string, belongs func(name string) bool) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if belongs(e.Name()) && !e.IsDir() && len(list) < maxFiles {
			list = append(list, filepath.Join(folder, e.Name()))
		}
	}
	return list
}

// ErrChanged says that files changed after you saw them.
var ErrChanged = errors.New("the files changed since you looked; look again with `hookmux config accept`")

// Accept accepts everything that waits. shown is the hash of what the user
// saw; "" accepts whatever is there.
func (s *Store) Accept(shown string) ([]Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, hash := s.listPending(nil)
	if shown != "" && shown != hash {
		return nil, ErrChanged
	}
	for _, c := range list {
		if c.Err != nil {
			return nil, fmt.Errorf("%s cannot be accepted: %w; correct it first", c.Path, c.Err)
		}
	}
	if len(list) > maxFiles {
		return nil, fmt.Errorf("%d files are more than can be kept; remove some of them from %s", len(list),
			s.opt.Config)
	}
	for _, c := range list {
		s.acceptContent(c.Path, c.After)
	}
	s.now.State, s.now.At = Accepted, time.Now()
	return list, s.writeRecord()
}

// AcceptFile accepts one file that one of your commands wrote, if it contains exactly that.
func (s *Store) AcceptFile(path string, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	live, _, err := s.sourceOf(path).Read()
	if err != nil {
		return err
	}
	if string(live) != string(content) {
		return ErrChanged
	}
	s.acceptContent(path, live)
	return s.writeRecord()
}

func (s *Store) acceptContent(path string, content []byte) {
	if content == nil {
		delete(s.now.Files, path)
		return
	}
	s.now.Files[path] = kept{Accepted: s.contents.keep(content), Runs: canRun(path)}
}

// AcceptInitial accepts what is there now if nothing was ever accepted. Only you may
// trigger that; otherwise it accepts only a state without any settings.
func (s *Store) AcceptInitial(byUser bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.State != New || wasAccepted(s) {
		return nil
	}
	list, _ := s.listPending(nil)
	if len(list) > 0 && !byUser {
		return nil
	}
	for _, c := range list {
		if c.Err != nil {
			return nil // a person has to look at it
		}
	}
	for _, c := range list {
		s.acceptContent(c.Path, c.After)
	}
	s.now.State, s.now.At = Accepted, time.Now()
	return s.writeRecord()
}

// Follow accepts changes of some files as they come, until the function it gives
// is called.
func (s *Store) Follow(paths []string) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		s.follow[path]++
	}
	s.version++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, path := range paths {
			if s.follow[path]--; s.follow[path] <= 0 {
				delete(s.follow, path)
			}
		}
	}
}

// AcceptFollowed accepts the changes of followed files and returns them.
func (s *Store) AcceptFollowed() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	followed := s.followed // while files were read
	s.followed = nil
	var only []string
	for path := range s.follow {
		only = append(only, path)
	}
	if only == nil {
		return followed
	}
	list, _ := s.listPending(only)
	list = slices.DeleteFunc(list, func(c Change) bool { return c.Err != nil })
	for _, c := range list {
		s.acceptContent(c.Path, c.After)
	}
	if len(list) > 0 {
		_ = s.writeRecord() // what is wrong is told by State
	}
	return append(followed, list...)
}

// acceptFollowedFile accepts the change of one file if it is followed and sound. The
// caller holds the lock.
func (s *Store) acceptFollowedFile(path string, live []byte) {
	if s.follow[path] == 0 || live == nil || hashOf(live) == s.now.Files[path].Accepted {
		return
	}
	if check := s.checks[path]; check != nil && check(live) != nil {
		return
	}
	if len(s.followed) < maxFiles {
		s.followed = append(s.followed, Change{Path: path, Kind: Edited, After: live})
	}
	s.acceptContent(path, live)
	_ = s.writeRecord() // what is wrong is told by State
}

// Tracked reports whether a file is one of the settings.
func (s *Store) Tracked(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.trackedPaths(), path)
}

// errMissing says that a file is not there.
func errMissing(path string) error { return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist} }
