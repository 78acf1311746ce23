// Package accepted keeps the version of the user's settings that was last accepted, and
// says what of it is active.
//
// Contract: a change to a settings file that hookmux's own commands didn't make waits until
// you accept it, with one exception: what only denies more is active at once, and stays
// until the next acceptance even if it's taken out again. So no series of edits weakens
// what is active. If nothing was accepted yet, or the accepted version is gone, built-in
// guards are on and the files are active only as far as they deny.
//
// The state is one sealed file in the state folder with the hashes of all files, and a
// folder with their contents by hash. A store that is opened for reading (for `hookmux
// evaluate`) writes nothing.
package accepted

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/sealed"
)

const (
	recordFile   = "accepted.json"
	markerFile   = "accepted.once" // says that there was a record
	contentsDir  = "accepted"
	maxFileSize  = 4 << 20
	maxTotalSize = 64 << 20
	maxFiles     = 1000
)

// State says what the settings in force rest on.
type State string

// The states.
const (
	Accepted State = "accepted" // on what a person accepted
	New      State = "new"      // nobody accepted anything yet
	Lost     State = "lost"     // what was accepted is gone or damaged
)

// Options says where things are.
type Options struct {
	Config string // folder of the user's settings
	State  string // where the record is kept
	Data   string // a second place for the marker; may be ""
	Copies string // where copies of programs are put, which others must be able to run; "" is State
	// ReadOnly keeps the store from writing anything.
	ReadOnly bool
}

// record is the stored form.
type record struct {
	State State           `json:"basis"`
	At    time.Time       `json:"at"` // of the last acceptance
	Files map[string]kept `json:"files"`
}

// kept is one file: what was accepted, and what is in force where something
// was added since. Contents are named by their hash; "" is no file.
type kept struct {
	Accepted string `json:"accepted,omitempty"`
	InForce  string `json:"inForce,omitempty"` // "": what was accepted
	// Loaded says that everything is known that this file of code imports.
	Loaded bool `json:"settled,omitempty"`
	// Ran says that an unaccepted hook was loaded from this file without an error.
	Ran bool `json:"ran,omitempty"`
	// Runs says that the file could be run as a program when it was accepted.
	Runs bool `json:"runs,omitempty"`
}

func (k kept) inForce() string {
	if k.InForce != "" {
		return k.InForce
	}
	return k.Accepted
}

// Store holds the accepted state. Safe for concurrent use.
type Store struct {
	opt Options

	mu       sync.Mutex
	now      record
	contents contents
	version  int            // of now
	problem  error          // why the record cannot be read or written
	follow   map[string]int // files whose changes are accepted as they come, with how many want it
	followed []Change       // of these, since somebody asked
	sources  map[string]*userfile.Source
	reads    map[string]map[string]bool    // files of code by the hook that read them
	checks   map[string]func([]byte) error // of files that must be sound to be accepted
}

// Open reads the accepted state. What is wrong with it is a state, too.
func Open(opt Options) *Store {
	if opt.Copies == "" {
		opt.Copies = opt.State
	}
	s := &Store{
		opt: opt, contents: contents{opt.State, map[string][]byte{}}, follow: map[string]int{},
		sources: map[string]*userfile.Source{}, reads: map[string]map[string]bool{},
		checks: map[string]func([]byte) error{},
	}
	s.now = s.readRecord()
	s.findLostContents()
	return s
}

// findLostContents makes the whole state a lost one where the copy of something in force is gone: nobody knows what it
// refused.
func (s *Store) findLostContents() {
	for _, path := range slices.Sorted(maps.Keys(s.now.Files)) {
		hash := s.now.Files[path].inForce()
		if hash == "" || s.now.State != Accepted {
			continue
		}
		if _, err := os.Lstat(s.contents.file(hash)); err == nil {
			continue
		}
		if live, _, err := s.sourceOf(path).Read(); err == nil && live != nil && hashOf(live) == hash {
			s.contents.keep(live)
			continue
		}
		s.lose(fmt.Errorf("the accepted copy of %s is gone", path))
	}
}

// lose notes that something that was accepted is gone. The caller holds the lock, or is the only one.
func (s *Store) lose(why error) {
	s.problem = why
	if s.now.State == Accepted {
		s.now.State = Lost
		s.version++
	}
}

// readRecord reads the record, or says what is there instead.
func (s *Store) readRecord() record {
	_, err := os.Lstat(filepath.Join(s.opt.State, recordFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) && wasAccepted(s):
		s.problem = fmt.Errorf("%s is gone", filepath.Join(s.opt.State, recordFile))
		return record{State: Lost, Files: map[string]kept{}}
	case errors.Is(err, fs.ErrNotExist):
		return record{State: New, Files: map[string]kept{}}
	}
	var r record
	err = sealed.Load(s.opt.State, recordFile, &r)
	if err == nil && (len(r.Files) > maxFiles || !slices.Contains([]State{Accepted, New, Lost}, r.State)) {
		err = fmt.Errorf("%s: cannot be understood", filepath.Join(s.opt.State, recordFile))
	}
	if err != nil {
		s.problem = err
		return record{State: Lost, Files: map[string]kept{}}
	}
	if r.Files == nil {
		r.Files = map[string]kept{}
	}
	return r
}

// wasAccepted reports whether settings were accepted here before.
func wasAccepted(s *Store) bool {
	// What builds before the first release called it. Their record isn't read: all guards block until you accept your
	// settings again.
	earlier := []string{filepath.Join(s.opt.State, "confirmed.json"), filepath.Join(s.opt.State, "confirmed.once")}
	return slices.ContainsFunc(append(markerFiles(s), earlier...), func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

func markerFiles(s *Store) []string {
	list := []string{filepath.Join(s.opt.State, markerFile)}
	if s.opt.Data != "" {
		list = append(list, filepath.Join(s.opt.Data, markerFile))
	}
	return list
}

// State says what the state in force rests on, since when, and what is wrong
// with what is kept on disk, nil for nothing.
func (s *Store) State() (State, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.State, s.now.At, s.problem
}

// Version changes whenever something else may be in force.
func (s *Store) Version() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// writeRecord writes the record with all contents it names and forgets the
// others. The caller holds the lock.
func (s *Store) writeRecord() error {
	s.version++
	if s.opt.ReadOnly {
		return nil
	}
	s.problem = s.storeRecord()
	return s.problem
}

func (s *Store) storeRecord() error {
	folder := filepath.Join(s.opt.State, contentsDir)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	wanted := map[string]bool{}
	total := 0
	for _, k := range s.now.Files {
		for _, hash := range []string{k.Accepted, k.InForce} {
			b, ok := s.contents.known[hash]
			if hash == "" || wanted[hash] {
				continue
			}
			wanted[hash] = true
			if !ok {
				continue // it was not needed yet, so it is on disk as it was read
			}
			if total += len(b); total > maxTotalSize {
				return fmt.Errorf("settings and hooks are larger than %d MiB together", maxTotalSize>>20)
			}
			if err := s.contents.store(hash, b); err != nil {
				return err
			}
		}
	}
	if s.now.State == Accepted {
		for _, path := range markerFiles(s) {
			if _, err := os.Lstat(path); err != nil {
				_ = userfile.Store(path, nil) // one of the two is enough, and the record itself says the same
			}
		}
	}
	if err := sealed.Store(s.opt.State, recordFile, s.now); err != nil {
		return err
	}
	s.contents.dropOthers(folder, wanted)
	return nil
}
