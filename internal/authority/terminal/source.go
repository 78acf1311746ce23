// Package terminal finds out who is at which terminal of this machine, asks you at a trusted
// terminal for a code, and marks what agents start.
//
// Contract: the rules are those of package authority; this package brings the facts and
// writes to terminals. Every read and every question is bounded in time and size. Nothing
// here can be faked by setting something: no variable, flag or file makes a caller trusted.
package terminal

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Source reads facts from the machine this program runs on.
type Source struct {
	proc.Table
	uid int

	mu sync.Mutex
	// noted is when the daemon set a terminal's access time back, as that shows
	// in the terminal's change time, and for whom.
	noted map[string]note
	// visited is when an agent was last found at a terminal that it could type into.
	visited bounded.Map[string, time.Time]
	// strangers are the terminals at which views wait, with who else has them open.
	strangers bounded.Map[string, *openedTerminal]
}

type note struct {
	change time.Time
	by     authority.Identity
	// others are terminals of the same multiplexer that were set back with this one.
	others []string
}

var _ authority.Source = (*Source)(nil)

// NewSource reads for a daemon of this user. table is usually proc.System().
func NewSource(table proc.Table, uid int) *Source {
	return &Source{Table: table, uid: uid, noted: map[string]note{}}
}

// FileLocks returns the limit that carries the mark.
func (s *Source) FileLocks(pid int) (uint64, error) { return proc.FileLocks(pid) }

// Terminal reads the times of a terminal's device.
func (s *Source) Terminal(tty string) (authority.Terminal, error) {
	info, err := os.Stat(tty)
	if err != nil {
		return authority.Terminal{}, err
	}
	if info.Mode()&os.ModeCharDevice == 0 {
		return authority.Terminal{}, fmt.Errorf("%s is not a terminal", tty)
	}
	t, err := deviceTimes(info)
	if err != nil {
		return t, err
	}
	s.mu.Lock()
	noted := s.noted[tty]
	s.mu.Unlock()
	t.Noted, t.For = noted.change, noted.by
	for _, other := range noted.others {
		moved, _ := s.hasMoved(other)
		t.Elsewhere = t.Elsewhere || moved
	}
	t.Opened = s.findStranger(tty)
	return t, nil
}

// hasMoved reports whether input was read at a terminal since setBack, or a program touched
// its times, and when. A terminal that is gone hasn't moved.
func (s *Source) hasMoved(tty string) (moved bool, at time.Time) {
	info, err := os.Stat(tty)
	if err != nil {
		return false, time.Time{}
	}
	t, err := deviceTimes(info)
	if err != nil {
		return true, time.Time{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !t.Change.Equal(s.noted[tty].change) || t.Access.Unix() >= t.Change.Unix(), t.Access
}

// setBack makes the next input at a terminal visible: its access time is moved
// an hour back, so that reading a key moves it to now, at once. That changes
// the change time, which is noted, with the process that waits for a key there.
func (s *Source) setBack(tty string, by authority.Identity) error { return s.setBackWith(tty, by, nil) }

func (s *Source) setBackWith(tty string, by authority.Identity, others []string) error {
	info, err := os.Stat(tty)
	if err != nil {
		return err
	}
	if err := os.Chtimes(tty, time.Now().Add(-time.Hour), info.ModTime()); err != nil {
		return err
	}
	if info, err = os.Stat(tty); err != nil {
		return err
	}
	t, err := deviceTimes(info)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.noted) >= maxNoted {
		clear(s.noted) // their persons are asked again
	}
	s.noted[tty] = note{t.Change, by, others}
	return nil
}

// noteAgent remembers that an agent runs at a terminal. What it typed ahead there may be read
// long after it has ended. The change time of the terminal moves, too, and no program can
// move it back: a daemon that starts later finds that the terminal was touched.
func (s *Source) noteAgent(tty string) {
	if tty == "" || !canTypeAhead() {
		return
	}
	s.mu.Lock()
	s.visited.Put(tty, time.Now(), maxNoted)
	s.mu.Unlock()
	info, err := os.Stat(tty)
	if err != nil {
		return // it was hung up
	}
	if t, err := deviceTimes(info); err == nil {
		_ = os.Chtimes(tty, t.Access, info.ModTime()) // if it is somebody else's, no person of ours is there
	}
}

// AgentSeen returns when an agent was last found at a terminal that it could type into.
func (s *Source) AgentSeen(tty string) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := s.visited.Get(tty)
	return at, nil
}

// watchKeys waits for the next key at a client's terminal, for a view at another terminal of
// that client's server. A key that the server gave to a third one is not for the view; which
// one a key goes to is the server's business, and any program can have it say something else.
func (s *Source) watchKeys(tty string, by authority.Identity, view string, server int) error {
	all, err := s.masters(server)
	if err != nil {
		return err
	}
	if !slices.Contains(all, view) {
		return fmt.Errorf("%s is not a terminal of the tmux at %s", view, tty)
	}
	others := slices.DeleteFunc(all, func(other string) bool { return other == view || other == tty })
	for _, other := range others {
		if err := s.setBack(other, authority.Identity{}); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return s.setBackWith(tty, by, others)
}

// staleKey is how long a key may have been read for a view that says nothing.
const staleKey = 2 * time.Second

// hasStaleKey reports whether keys were read since watchKeys that no view has used.
func (s *Source) hasStaleKey(tty string, now time.Time) bool {
	s.mu.Lock()
	others := s.noted[tty].others
	s.mu.Unlock()
	stale := false
	for _, one := range append([]string{tty}, others...) {
		moved, at := s.hasMoved(one)
		if moved && now.Sub(at) < staleKey {
			return false
		}
		stale = stale || moved
	}
	return stale
}

// maxNoted bounds what is remembered of terminals.
const maxNoted = 1024

// readSince reports whether input was read at a terminal since setBack, and no program
// touched its times.
func (s *Source) readSince(tty string) bool {
	t, err := s.Terminal(tty)
	return err == nil && !t.Noted.IsZero() && t.Change.Equal(t.Noted) && t.Access.Unix() >= t.Change.Unix()
}

var errNoTimes = errors.New("this system does not tell the times of a terminal")
