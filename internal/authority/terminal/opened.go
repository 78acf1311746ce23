package terminal

import (
	"os"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	ttys "github.com/hookmux/hookmux/internal/platform/tty"
)

// openedTerminal is a terminal at which a view waits for keys. A program that can write to it
// can make it answer queries, and the answers are read as keys.
type openedTerminal struct {
	server int // of the multiplexer that runs there, which has it open
	looked time.Time
	has    []proc.Process // other programs that have it open
	left   time.Time      // when one of them was found to be gone
}

// answerTime is how long after a program opened a terminal its answers may be read.
const answerTime = time.Minute

// watchOpens notices from now on who else opens a terminal. server may be 0.
func (s *Source) watchOpens(tty string, server int) {
	_, watched := ttys.OpenedAt(tty)
	if err := ttys.WatchOpens(tty); err != nil {
		return // findStranger says so
	}
	s.mu.Lock()
	one, known := s.strangers.Get(tty)
	s.mu.Unlock()
	if known && watched && one.server == server {
		return
	}
	one = &openedTerminal{server: server, looked: time.Now(), has: s.strangersAt(tty, server)}
	s.mu.Lock()
	s.strangers.Put(tty, one, maxWatched)
	s.mu.Unlock()
}

// strangersAt lists the processes that have a terminal open and are neither at it themselves
// nor serve it. An agent's child is one wherever it runs.
func (s *Source) strangersAt(tty string, server int) []proc.Process {
	var found []proc.Process
	for _, pid := range proc.AtFile(tty) {
		p, err := s.Lookup(pid)
		if err != nil || pid == server || pid == os.Getpid() {
			continue
		}
		if limit, err := proc.FileLocks(pid); p.TTY != tty || err == nil && authority.IsMark(limit) {
			found = append(found, p)
		}
	}
	return found
}

// findStranger describes what else can write to a terminal at which a view waits.
func (s *Source) findStranger(tty string) string {
	s.mu.Lock()
	one, known := s.strangers.Get(tty)
	s.mu.Unlock()
	if !known {
		return "" // no view waits there
	}
	at, watched := ttys.OpenedAt(tty)
	if !watched {
		if ttys.TellsOpens {
			return "hookmux can't tell which program"
		}
		return ""
	}
	s.mu.Lock()
	server, looked := one.server, one.looked
	s.mu.Unlock()
	var now []proc.Process
	if at.After(looked) {
		looked, now = time.Now(), s.strangersAt(tty, server)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if looked.After(one.looked) {
		one.looked, one.has = looked, append(one.has, now...)
	}
	one.has = slices.DeleteFunc(one.has, func(p proc.Process) bool {
		is, err := s.Lookup(p.PID)
		gone := err != nil || is.Start != p.Start
		if gone {
			one.left = time.Now()
		}
		return gone
	})
	switch {
	case len(one.has) > 0:
		return termsafe.Line(one.has[0].Name, maxAbout)
	case time.Since(at) < answerTime, time.Since(one.left) < answerTime:
		return "another program that opened it"
	}
	return ""
}
