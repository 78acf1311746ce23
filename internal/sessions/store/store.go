package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/launch/resumeargs"
	"github.com/hookmux/hookmux/internal/platform/files"
)

// Record is one session that can be taken up again.
type Record struct {
	Agent   string   `json:"agent"`
	Session string   `json:"session"`
	Argv    []string `json:"argv"`
	// Run says that the agent gets its hooks through `hookmux run`.
	Run bool     `json:"run,omitempty"`
	Dir string   `json:"dir"`
	Env []string `json:"env,omitempty"` // NAME=value
	// Place is where it sits, as one text that is only compared; "" when that
	// is not known.
	Place string `json:"place,omitempty"`
	Pane  string `json:"pane,omitempty"`
	Mux   string `json:"mux,omitempty"`
	// Server is tmux's socket, MuxPID and MuxStart its process.
	Server   string    `json:"server,omitempty"`
	MuxPID   int       `json:"muxPid,omitempty"`
	MuxStart uint64    `json:"muxStart,omitempty"`
	TTY      string    `json:"tty,omitempty"`
	Title    string    `json:"title,omitempty"`
	From     string    `json:"from,omitempty"` // where the session was started
	At       time.Time `json:"at"`
	// PID and Start name the process it last ran in.
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`
	// Shared says that a daemon of the agent served it, which may still hold it.
	Shared bool `json:"shared,omitempty"`
}

// Store keeps how sessions can be resumed after a reboot: a directory with one small file
// per session, written durably before Put returns. Many goroutines may use it.
//
// A record is argv, never a line for a shell. Its agent and session come from outside and
// become a file name, so both are checked. A newer session in the same place replaces the
// older one; resuming a session doesn't use its record up. A file that can't be read is
// reported and left alone.
type Store struct {
	dir string
	mu  sync.Mutex
	all map[key]Record
}

type key struct{ agent, session string }

// Open reads a directory; one that is not there is empty. The error names
// files that could not be read; the store serves all the same.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, all: map[key]Record{}}
	return s, s.Reload()
}

// Reload reads the directory again, as after it was repaired.
func (s *Store) Reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := s.dir
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var bad []error
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if strings.HasPrefix(f.Name(), ".") {
			_ = os.Remove(path) // half written when a machine died
			continue
		}
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		r, err := read(path)
		if err == nil && fileName(r.Agent, r.Session) != f.Name() {
			err = errors.New("is another session's")
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w; delete it", path, err))
			continue
		}
		s.all[key{r.Agent, r.Session}] = r
	}
	return errors.Join(bad...)
}

func read(path string) (Record, error) {
	b, err := files.Read(path, 16<<20)
	if err != nil {
		return Record{}, err
	}
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return Record{}, err
	}
	return r, r.check()
}

func (r *Record) check() error {
	switch {
	case !resumeargs.ValidID(r.Agent) || strings.Contains(r.Agent, "."):
		return fmt.Errorf("agent %.40q is none", r.Agent)
	case !resumeargs.ValidID(r.Session):
		return fmt.Errorf("session id %.40q is none that may be kept", r.Session)
	case len(r.Argv) < 2:
		return errors.New("a record without a command")
	}
	return nil
}

func fileName(agent, session string) string { return agent + "." + session + ".json" }

// Put writes a record down; it is on the disk when Put returns. One that says
// the same but for its time is not written again. An older session in the same
// place goes.
func (s *Store) Put(r Record) error {
	if err := r.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.all[key{r.Agent, r.Session}]; !ok || !sameRecord(old, r) {
		if err := s.write(r); err != nil {
			return err
		}
	}
	s.all[key{r.Agent, r.Session}] = r
	if r.Place == "" {
		return nil
	}
	for k, other := range s.all {
		if other.Place == r.Place && k != (key{r.Agent, r.Session}) && !other.At.After(r.At) {
			s.remove(k)
		}
	}
	return nil
}

func sameRecord(a, b Record) bool {
	a.At, b.At = time.Time{}, time.Time{}
	return reflect.DeepEqual(a, b)
}

func (s *Store) write(r Record) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := files.WriteSynced(filepath.Join(s.dir, fileName(r.Agent, r.Session)), append(b, '\n')); err != nil {
		return err
	}
	_ = files.SyncDir(s.dir) // some file systems have no such thing
	return nil
}

func (s *Store) remove(k key) {
	_ = os.Remove(filepath.Join(s.dir, fileName(k.agent, k.session)))
	delete(s.all, k)
}

// Get returns the record of a session.
func (s *Store) Get(agent, session string) (Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.all[key{agent, session}]
	return r, ok
}

// List returns all records, the latest first.
func (s *Store) List() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Record, 0, len(s.all))
	for _, r := range s.all {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Record) int { return b.At.Compare(a.At) })
	return list
}

// Forget deletes a session's record and says whether there was one.
func (s *Store) Forget(agent, session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{agent, session}
	_, ok := s.all[k]
	if ok {
		s.remove(k)
	}
	return ok
}

// Purge deletes every record that keep does not want, and says how many.
func (s *Store) Purge(keep func(Record) bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for k, r := range s.all {
		if !keep(r) {
			s.remove(k)
			n++
		}
	}
	return n
}
