package tmux

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// Change describes how a session changed.
type Change struct {
	Session string
	Pane    string // its pane, checked; "" if it is in none
	Socket  string // the server of that pane; "" is the default one
	Agent   string
	Title   string
	Status  string // a word of wire.Session
	Used    Used
	Gone    bool // it left the list of sessions
}

// Naming is which windows Follow names.
type Naming int

const (
	// NameUnnamed leaves windows alone whose name the user chose.
	NameUnnamed Naming = iota
	NameAlways
	NameNever
)

// Options of Follow.
type Options struct {
	Naming Naming
	// NameWidth is how many columns a window's name has at most; 0 is 30.
	NameWidth int
	// Settle is how long changes are gathered before tmux is updated; 0 means a tenth of a second.
	Settle time.Duration
	// Program is tmux; "" looks it up.
	Program string
	// Log is called with what went wrong; it may be nil.
	Log func(error)
}

// Follow keeps icons, titles and window names current while changes arrive. It ends when the channel is
// closed or ctx ends, and leaves every server as it found it. What an earlier, killed follower left
// behind is removed as soon as a change mentions that server.
func Follow(ctx context.Context, changes <-chan Change, o Options) {
	if o.Settle == 0 {
		o.Settle = 100 * time.Millisecond
	}
	f := &follower{o: o, sessions: map[string]Change{}, servers: map[string]*followed{}}
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			f.restoreAll()
			return
		case c, ok := <-changes:
			if !ok {
				if due != nil {
					f.showChanges(ctx)
				}
				f.restoreAll()
				return
			}
			f.noteChange(c)
			if due == nil {
				due = time.After(o.Settle)
			}
		case <-due:
			due = nil
			f.showChanges(ctx)
		}
	}
}

type follower struct {
	o        Options
	sessions map[string]Change
	servers  map[string]*followed
}

type followed struct {
	server *Server
	dirty  bool
	swept  bool              // what others left is gone
	named  map[string]string // window → name we gave
}

func (f *follower) noteChange(c Change) {
	old, known := f.sessions[c.Session]
	c.Socket = oneSocket(c.Socket) // under two names, one would take away what the other shows
	if c.Gone {
		delete(f.sessions, c.Session)
	} else {
		f.sessions[c.Session] = c
		if c.Pane != "" {
			f.serverAt(c.Socket).dirty = true
		}
	}
	if known && old.Pane != "" {
		f.serverAt(old.Socket).dirty = true
	}
	if waits := !c.Gone && c.Status == wire.StatusWaiting; waits != (known && old.Status == wire.StatusWaiting) {
		for _, s := range f.servers {
			s.dirty = true // each of them says how many wait
		}
	}
}

func (f *follower) serverAt(socket string) *followed {
	s := f.servers[socket]
	if s == nil {
		s = &followed{server: &Server{Socket: socket, Program: f.o.Program}, named: map[string]string{}}
		f.servers[socket] = s
	}
	return s
}

// showChanges updates every server on which something changed.
func (f *follower) showChanges(ctx context.Context) {
	for socket, s := range f.servers {
		if !s.dirty {
			continue
		}
		s.dirty = false
		var here []Mark
		for _, c := range f.sessions {
			switch {
			case c.Pane != "" && c.Socket == socket:
				here = append(here, Mark{Pane: c.Pane, Session: c.Session, Agent: c.Agent, Title: c.Title,
					Status: c.Status, Used: c.Used})
			case c.Status == wire.StatusWaiting: // it waits elsewhere
				here = append(here, Mark{Session: c.Session, Status: c.Status})
			}
		}
		if err := f.updateServer(ctx, s, here); err != nil {
			f.reportError(err)
			s.dirty = true                   // tried again with the next change
			if errors.Is(err, ErrNoServer) { // with it went everything on it
				delete(f.servers, socket)
			}
		}
	}
}

func (f *follower) updateServer(ctx context.Context, s *followed, marks []Mark) error {
	if !s.swept {
		if err := s.server.Clear(ctx); err != nil {
			return err
		}
		s.swept = true
	}
	if err := s.server.SetIcons(ctx, marks); err != nil {
		return err
	}
	if f.o.Naming == NameNever {
		return nil
	}
	panes, err := s.server.Panes(ctx)
	if err != nil {
		return err
	}
	inWindow := map[string][]Mark{}
	open := map[string]bool{}
	for _, p := range panes {
		open[p.Window] = true
		for _, m := range marks {
			if m.Pane == p.ID {
				inWindow[p.Window] = append(inWindow[p.Window], m)
			}
		}
	}
	for window, here := range inWindow {
		if err := f.nameWindow(ctx, s, window, here); err != nil {
			f.reportError(err)
		}
	}
	for window := range s.named {
		if len(inWindow[window]) > 0 {
			continue
		}
		delete(s.named, window)
		if open[window] {
			if err := s.server.RestoreName(ctx, window); err != nil {
				f.reportError(err)
			}
		}
	}
	return nil
}

// nameWindow gives a window the title of the session in it. With several it is the first one's, in a
// fixed order, so that the name doesn't jump with statuses.
func (f *follower) nameWindow(ctx context.Context, s *followed, window string, here []Mark) error {
	m := slices.MinFunc(here, func(a, b Mark) int {
		return cmp.Or(len(a.Pane)-len(b.Pane), strings.Compare(a.Pane, b.Pane), strings.Compare(a.Session, b.Session))
	})
	name := m.Title
	if name == "" {
		name = m.Agent
	}
	if f.o.NameWidth > 0 {
		name = termsafe.Line(name, f.o.NameWidth)
	}
	before, ours := s.named[window]
	if name == "" || ours && before == name {
		return nil
	}
	if !ours && f.o.Naming == NameUnnamed {
		if fixed, err := s.server.NamedByUser(ctx, window); err != nil || fixed {
			return err
		}
	}
	if ok, err := s.server.NameWindow(ctx, window, name); err != nil || !ok {
		return err
	}
	s.named[window] = name
	return nil
}

// restoreAll restores everything, also when ctx is over.
func (f *follower) restoreAll() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, s := range f.servers {
		if err := s.server.Clear(ctx); err != nil && !errors.Is(err, ErrNoServer) {
			f.reportError(err)
		}
	}
}

func (f *follower) reportError(err error) {
	if f.o.Log != nil && !errors.Is(err, ErrNoServer) {
		f.o.Log(err)
	}
}
