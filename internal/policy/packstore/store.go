package packstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// The store's own files, relative to the state folder.
const (
	folder     = "packs"
	recordFile = folder + "/packs.json"
	// secondRecord holds the same next to the folder, so that removing the folder doesn't make
	// packs unknown.
	secondRecord = "packs-taken-in.json"
)

// Kept is a pack that the user added.
type Kept struct {
	Manifest
	Hash   string    `json:"hash"`
	Origin Origin    `json:"origin"`
	Added  time.Time `json:"added"`
}

// record describes all packs, sealed: another program can't add one by writing it.
type record struct {
	Version int    `json:"version"`
	Packs   []Kept `json:"packs"`
}

// Store keeps packs below the state folder. It may be used concurrently.
type Store struct {
	state string
	mu    sync.Mutex
}

// New returns the store below a state folder; nothing is read until it is used.
func New(state string) *Store { return &Store{state: state} }

// load reads the list of packs. If it is gone or can't be trusted, its second copy is used
// and damage says so.
func (s *Store) load() (r record, damage, err error) {
	r, err = s.loadFrom(recordFile)
	if err == nil && !s.isGone(recordFile) {
		return r, nil, nil
	}
	if second, secondErr := s.loadFrom(secondRecord); secondErr == nil && !s.isGone(secondRecord) {
		if err == nil {
			err = errors.New("the list of packs is gone")
		}
		return second, fmt.Errorf("%w; its second copy applies", err), nil
	}
	if err == nil && s.lost() {
		err = errors.New("the list of packs is gone, and their copies are there; add the packs again")
	}
	return r, nil, err
}

func (s *Store) loadFrom(file string) (record, error) {
	r := record{Version: 1}
	if err := sealed.Load(s.state, file, &r); err != nil {
		return record{Version: 1}, fmt.Errorf("the list of packs is not believed: %w; add the packs again", err)
	}
	if r.Version != 1 {
		return record{Version: 1}, errors.New("the list of packs is a newer version's; upgrade hookmux")
	}
	return r, nil
}

// keep writes the list of packs, twice.
func (s *Store) keep(r record) error {
	if err := sealed.Store(s.state, secondRecord, r); err != nil {
		return err
	}
	return sealed.Store(s.state, recordFile, r)
}

func (s *Store) isGone(file string) bool {
	_, err := os.Lstat(filepath.Join(s.state, file))
	return errors.Is(err, fs.ErrNotExist)
}

// lost reports whether something took the list away: copies of packs are there, and the list
// stays even when the user removed the last pack.
func (s *Store) lost() bool {
	entries, err := os.ReadDir(filepath.Join(s.state, folder))
	isPack := func(e fs.DirEntry) bool { return packName.MatchString(e.Name()) }
	return err == nil && slices.ContainsFunc(entries, isPack)
}

// List returns the packs that were added, by name.
func (s *Store) List() ([]Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _, err := s.load()
	return r.Packs, err
}

// Find returns the pack of a name.
func (s *Store) Find(name string) (Kept, bool, error) {
	list, err := s.List()
	i := slices.IndexFunc(list, func(k Kept) bool { return k.Name == name })
	if i < 0 {
		return Kept{}, false, err
	}
	return list[i], true, err
}

func (s *Store) copyDir(k Kept) string { return filepath.Join(s.state, folder, k.Name, k.Hash[:32]) }

// Read reads the copy of a pack, which must be what was added.
func (s *Store) Read(k Kept) (*Pack, error) {
	pack, err := ReadFolder(s.copyDir(k))
	if err != nil {
		return nil, fmt.Errorf("pack %s: its copy cannot be read (%w); `hookmux rules update %s` takes it in again",
			k.Name, err, k.Name)
	}
	if pack.Hash() != k.Hash || pack.Name != k.Name {
		return nil, fmt.Errorf("pack %s: its copy is not what you took in; `hookmux rules update %s` takes it in again",
			k.Name, k.Name)
	}
	return pack, nil
}

// Add keeps a pack, replacing the one of the same name that has the hash replaces; "" replaces
// none. It rejects a tag that was moved, and a pack with rules that are wrong.
func (s *Store) Add(pack *Pack, origin Origin, replaces string, now time.Time) (Kept, error) {
	if _, err := pack.CheckRules(); err != nil {
		return Kept{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _, err := s.load()
	if err != nil && replaces != "" {
		return Kept{}, err
	}
	k := Kept{Manifest: pack.Manifest, Hash: pack.Hash(), Origin: origin, Added: now.UTC().Truncate(time.Second)}
	at := slices.IndexFunc(r.Packs, func(old Kept) bool { return old.Name == k.Name })
	switch {
	case at >= 0 && r.Packs[at].Hash != replaces:
		return Kept{}, fmt.Errorf("there is a pack %s already, of %s; `hookmux rules update %s` renews it, "+
			"`hookmux rules remove %s` takes it away", k.Name, r.Packs[at].Origin, k.Name, k.Name)
	case at >= 0:
		if err := CheckMoved(r.Packs[at].Origin, origin); err != nil {
			return Kept{}, err
		}
	}
	if err := s.writeCopy(s.copyDir(k), pack); err != nil {
		return Kept{}, err
	}
	var old string
	if at >= 0 {
		old = s.copyDir(r.Packs[at])
		r.Packs[at] = k
	} else {
		r.Packs = append(r.Packs, k)
		slices.SortFunc(r.Packs, func(a, b Kept) int { return strings.Compare(a.Name, b.Name) })
	}
	if err := s.keep(r); err != nil {
		return Kept{}, err
	}
	if old != "" && old != s.copyDir(k) {
		_ = os.RemoveAll(old) // nothing refers to it any more
	}
	return k, nil
}

// CheckMoved rejects a tag that names another commit than when it was added.
func CheckMoved(before, now Origin) error {
	same := before.URL == now.URL && before.Ref == now.Ref
	if before.Is != Tag || now.Is != Tag || !same || before.Commit == now.Commit {
		return nil
	}
	return fmt.Errorf("the tag %s of %s was moved: it was the commit %.12s when you took it in, and is %.12s now. "+
		"Ask who publishes the pack why; what you took in stays in force. To take the new content all the same, "+
		"remove the pack and add it again", now.Ref, now.URL, before.Commit, now.Commit)
}

// Remove forgets a pack.
func (s *Store) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _, err := s.load()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(r.Packs, func(k Kept) bool { return k.Name == name })
	if at < 0 {
		return fmt.Errorf("there is no pack %s; `hookmux rules list` shows those there are", name)
	}
	r.Packs = slices.Delete(r.Packs, at, at+1)
	if err := s.keep(r); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(s.state, folder, name))
}

// writeCopy writes the bytes that were hashed, all or nothing.
func (s *Store) writeCopy(dir string, pack *Pack) error {
	if there, err := ReadFolder(dir); err == nil && there.Hash() == pack.Hash() {
		return nil
	}
	var list []files.FolderFile
	for _, f := range pack.Files {
		list = append(list, files.FolderFile{Path: f.Path, Data: f.Data, Mode: 0o600})
	}
	return files.WriteFolder(dir, list)
}

// Sources returns the files of rules of every pack that is as it was added. What is wrong with
// others is reported.
func (s *Store) Sources() ([]rules.Source, []rules.Problem) {
	s.mu.Lock()
	r, damage, err := s.load()
	s.mu.Unlock()
	if err != nil {
		return nil, []rules.Problem{{File: filepath.Join(s.state, recordFile), Text: err.Error()}}
	}
	var sources []rules.Source
	var problems []rules.Problem
	if damage != nil {
		problems = append(problems, rules.Problem{File: filepath.Join(s.state, recordFile), Text: damage.Error()})
	}
	for _, k := range r.Packs {
		pack, err := s.Read(k)
		if err != nil {
			problems = append(problems, rules.Problem{File: s.copyDir(k), Text: err.Error()})
			continue
		}
		sources = append(sources, pack.Sources("pack "+k.Name)...)
	}
	return sources, problems
}

// Listed reports whether there is a list of packs.
func (s *Store) Listed() bool { return !s.isGone(recordFile) || !s.isGone(secondRecord) }

// Stamp changes whenever other packs may apply.
func (s *Store) Stamp() string {
	stamp := ""
	for _, file := range []string{recordFile, secondRecord} {
		if info, err := os.Stat(filepath.Join(s.state, file)); err == nil {
			stamp += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), "\n")
		} else {
			stamp += "none\n"
		}
	}
	return stamp
}
