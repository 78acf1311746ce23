package accepted

import (
	"bytes"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// Strengthen lays over what is in force whatever a changed file adds to it that
// only refuses more. have is nil where nothing is in force.
type Strengthen func(have, live []byte, basis State) (force []byte)

// File is one file of settings: what is in force of it.
type File struct {
	store      *Store
	path       string
	strengthen Strengthen
	source     *userfile.Source

	read    bool
	version int
	view    View
}

// View is a file at one moment.
type View struct {
	Accepted []byte // nil: nothing was
	InForce  []byte // nil: nothing is
	Live     []byte // what the file holds; nil: there is none
	LiveErr  error  // why it cannot be read
	Waits    bool   // the file holds something other than what was accepted
}

// File gives a file of settings. check says what is wrong with a text that must
// not be accepted.
func (s *Store) File(path string, limit int64, strengthen Strengthen, check func([]byte) error) *File {
	f := &File{store: s, path: path, strengthen: strengthen, source: &userfile.Source{Path: path, Limit: limit}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources[path] = &userfile.Source{Path: path, Limit: limit}
	s.checks[path] = check
	return f
}

// Path returns where the file is.
func (f *File) Path() string { return f.path }

// Read gives what is in force, and whether that or the file itself is new since
// the last call. Costs one stat when nothing changed. Not safe for concurrent
// use.
func (f *File) Read() (View, bool) {
	live, changed, err := f.source.Read()
	s := f.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.read && !changed && f.version == s.version {
		return f.view, false
	}
	if err == nil {
		s.acceptFollowedFile(f.path, live)
	}
	k := s.now.Files[f.path]
	have, lost := s.contents.read(k.inForce())
	if lost != nil {
		s.lose(lost)
	}
	basis := s.now.State
	view := View{Live: live, LiveErr: err}
	view.Accepted, _ = s.contents.read(k.Accepted) // what is gone was not accepted
	view.Waits = err != nil || live == nil != (k.Accepted == "") || live != nil && hashOf(live) != k.Accepted
	view.InForce = have
	if have == nil || view.Waits {
		view.InForce = f.strengthen(have, live, basis)
		s.keepAdded(f.path, k, have, view.InForce)
	}
	f.read, f.version, f.view = true, s.version, view
	return view, true
}

// keepAdded makes what was added to a file stay in force. The caller holds the
// lock.
func (s *Store) keepAdded(path string, k kept, have, force []byte) {
	if force == nil || have != nil && bytes.Equal(have, force) {
		return
	}
	k.InForce = s.contents.keep(force)
	s.now.Files[path] = k
	_ = s.writeRecord() // what is wrong is told by State; it is in force all the same
}

// FollowWrite is called when one of your commands changed the file: the same change is made
// to the accepted and the active version, and to nothing else. change makes it: it gets a
// text, nil for none, and returns the new one. FollowWrite reports whether other changes of
// the file still wait.
func (f *File) FollowWrite(before, after []byte, change func(old []byte) ([]byte, error)) (waits bool, err error) {
	s := f.store
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.now.Files[f.path]
	accepted, err := s.contents.read(k.Accepted)
	if err != nil {
		return true, err
	}
	if (before == nil) == (accepted == nil) && bytes.Equal(before, accepted) && s.now.State == Accepted {
		k.Accepted, k.InForce = s.contents.keepIfAny(after), ""
		s.now.Files[f.path] = k
		return false, s.writeRecord()
	}
	// A change that one of the texts has no place for leaves it as it is.
	if fresh, err := change(bytes.Clone(accepted)); err == nil {
		k.Accepted = s.contents.keepIfAny(fresh)
	}
	if have, err := s.contents.read(k.InForce); err == nil && have != nil {
		if force, err := change(bytes.Clone(have)); err == nil {
			k.InForce = s.contents.keep(force)
		}
	}
	s.now.Files[f.path] = k
	return true, s.writeRecord()
}
