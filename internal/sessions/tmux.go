package hub

import (
	"context"

	"github.com/hookmux/hookmux/internal/ui/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// surfaces shows changes where the person looks anyhow, inside the hub's own
// process: nobody has to keep another program running for it.
type surfaces struct {
	s    *sessions
	ctx  context.Context
	to   chan tmux.Change
	over chan struct{}
}

// keepChanges is more than a follower ever falls behind; beyond it changes are
// left out and the next round of the clock tells all of it again.
const keepChanges = 4096

func (s *sessions) startSurfaces(ctx context.Context) *surfaces {
	f := &surfaces{s: s, ctx: ctx}
	f.set(s.switches.Load().follow)
	return f
}

// set switches following on or off.
func (f *surfaces) set(on bool) {
	switch {
	case on && f.to == nil:
		f.to, f.over = make(chan tmux.Change, keepChanges), make(chan struct{})
		go func(to <-chan tmux.Change, over chan struct{}) {
			defer close(over)
			tmux.Follow(f.ctx, to, tmux.Options{Log: func(err error) { f.s.deps.Log.Warn("tmux does not show sessions", "error", err) }})
		}(f.to, f.over)
		f.all()
	case !on && f.to != nil:
		f.end()
	}
}

// on reports whether anybody is told.
func (f *surfaces) on() bool { return f.to != nil }

// all tells of every session.
func (f *surfaces) all() {
	if f.to == nil {
		return
	}
	for _, one := range f.s.book.Snapshot() {
		f.tell(wire.SessionChange{Session: f.s.show(one), Gone: !one.Live()})
	}
}

func (f *surfaces) tell(c wire.SessionChange) {
	if f.to == nil {
		return
	}
	change := tmux.Change{
		Session: c.Session.Agent + ":" + c.Session.ID, Agent: c.Session.Agent, Title: c.Session.Title,
		Status: tmux.Status(c.Session.Status), Gone: c.Gone || c.Session.Ended != nil,
	}
	if c.Session.Mux == "tmux" {
		change.Pane, change.Socket = c.Session.Pane, c.Session.Server
	}
	select {
	case f.to <- change:
	default:
	}
}

// end stops following and waits until tmux has its own names back.
func (f *surfaces) end() {
	if f.to != nil {
		close(f.to)
		<-f.over
		f.to = nil
	}
}
