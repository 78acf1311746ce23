// Package services holds what every service of the daemon is given: the leaves
// that know nothing of any service. A service takes Deps by value and defines
// itself the interfaces of whatever else it needs; none holds the daemon.
package services

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/redact"
)

// ErrCrippled says that this process may not write any more, however much room the disk has: its
// own limits were lowered. The next daemon has those of the process that starts it.
var ErrCrippled = errors.New("the limits of the daemon's own process keep it from writing")

// Deps holds what every service may use.
type Deps struct {
	Dirs      paths.Dirs
	Catalogue *agent.Catalogue
	Processes proc.Table
	Log       *slog.Logger
	Problems  *Problems
	// Redactor replaces secrets in what is stored and shown, and knows those
	// it replaced before.
	Redactor *redact.Redactor
	// Notes sends streams what isn't stored: traces, outcomes, changes of sessions.
	Notes Publisher
	// Background runs goroutines that the daemon waits for when it stops.
	Background *Background
}

// Publisher sends notes to the streams of events.
type Publisher interface {
	// Publish sends a note to every stream that keeps up.
	Publish(note string, params any)
	// Watched reports whether anybody follows a stream.
	Watched() bool
}

// AgentName returns the catalogue's own name of an agent that may be written by an
// alias.
func (d Deps) AgentName(name string) string {
	if a, ok := d.Catalogue.Agent(name); ok {
		return a.Name
	}
	return name
}

// AgentTitle returns an agent's name as it is written in text.
func (d Deps) AgentTitle(name string) string {
	if a, ok := d.Catalogue.Agent(name); ok {
		return a.Title
	}
	return name
}

// WatchExit is closed when a process ends. A process table other than the system's is polled. It
// is nil if the system doesn't report it.
func (d Deps) WatchExit(ctx context.Context, pid int, start uint64) <-chan struct{} {
	if d.Processes == proc.System() {
		done, err := proc.WatchExit(ctx, pid, start)
		if err != nil {
			return nil
		}
		return done
	}
	done := make(chan struct{})
	d.Background.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			if p, err := d.Processes.Lookup(pid); err != nil || start != 0 && p.Start != start {
				close(done)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return done
}

// Pause waits, and reports whether over was closed meanwhile.
func Pause(span time.Duration, over <-chan struct{}) bool {
	t := time.NewTimer(span)
	defer t.Stop()
	select {
	case <-t.C:
		return false
	case <-over:
		return true
	}
}
