// Package trusted terminal reads who sits where on this machine, asks the person at a trusted terminal
// for a code, and marks what agents start.
//
// Contract: the rules are those of package authority; this package brings the
// facts and talks to terminals. Every read and every question is bounded in
// time and size. Nothing here takes a person's place: no variable, flag or file
// makes somebody a person.
package terminal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/boundedmap"
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
	visited boundedmap.Map[string, time.Time]
}

type note struct {
	change time.Time
	by     authority.Identity
}

var _ authority.Source = (*Source)(nil)

// NewSource reads for a daemon of this user. table is usually proc.System().
func NewSource(table proc.Table, uid int) *Source {
	return &Source{Table: table, uid: uid, noted: map[string]note{}}
}

// FileLocks is the limit that carries the mark.
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
	t.Noted, t.For = s.noted[tty].change, s.noted[tty].by
	s.mu.Unlock()
	return t, nil
}

// setBack makes the next input at a terminal visible: its access time is moved
// an hour back, so that reading a key moves it to now, at once. That changes
// the change time, which is noted, with the process that waits for a key there.
func (s *Source) setBack(tty string, by authority.Identity) error {
	info, err := os.Stat(tty)
	if err != nil {
		return err
	}
	if err := os.Chtimes(tty, time.Now().Add(-time.Hour), info.ModTime()); err != nil {
		return err
	}
	t, err := s.Terminal(tty)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.noted) >= maxNoted {
		clear(s.noted) // their persons are asked again
	}
	s.noted[tty] = note{t.Change, by}
	return nil
}

// noteAgent remembers that an agent runs at a terminal. What it typed there ahead may be
// read long after it has ended. The change time of the terminal moves, too, and no program
// can move it back: a daemon that starts later finds that somebody touched the terminal.
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

// AgentSeen is when an agent was last found at a terminal that it could type into.
func (s *Source) AgentSeen(tty string) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := s.visited.Get(tty)
	return at, nil
}

// maxNoted bounds what is remembered of terminals.
const maxNoted = 1024

// readSince reports whether input was read at a terminal since setBack, and
// nobody touched its times.
func (s *Source) readSince(tty string) bool {
	t, err := s.Terminal(tty)
	return err == nil && !t.Noted.IsZero() && t.Change.Equal(t.Noted) && t.Access.Unix() >= t.Change.Unix()
}

var errNoTimes = errors.New("this system does not tell the times of a terminal")
