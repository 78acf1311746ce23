package sessions

import (
	"context"

	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// tmuxDisplay shows changes in tmux, inside the daemon's own process: you needn't keep
// another program running for it. Only the service's goroutine uses it.
type tmuxDisplay struct {
	ctx     context.Context
	deps    services.Deps
	view    *view
	names   string // how windows are named
	changes chan tmux.Change
	stopped chan struct{}
}

// maxChangesBehind is more than a display ever falls behind. Further changes are dropped,
// and the next tick shows everything again.
const maxChangesBehind = 4096

func newTmuxDisplay(ctx context.Context, deps services.Deps, v *view) *tmuxDisplay {
	return &tmuxDisplay{ctx: ctx, deps: deps, view: v}
}

// shortName is how wide a window's name is, so that several fit beside their icons at 80
// columns.
const shortName = 16

// setFollowing switches the display on or off, and chooses how windows are named.
func (d *tmuxDisplay) setFollowing(on bool, names string) {
	if !on || d.names != names {
		d.stopFollowing()
	}
	if !on || d.changes != nil {
		return
	}
	d.names = names
	d.changes, d.stopped = make(chan tmux.Change, maxChangesBehind), make(chan struct{})
	options := tmux.Options{Log: func(err error) { d.deps.Log.Warn("tmux does not show sessions", "error", err) }}
	switch names {
	case "off":
		options.Naming = tmux.NameNever
	case "short":
		options.NameWidth = shortName
	}
	go func(changes <-chan tmux.Change, stopped chan struct{}) {
		defer close(stopped)
		tmux.Follow(d.ctx, changes, options)
	}(d.changes, d.stopped)
	d.showAll()
}

func (d *tmuxDisplay) isFollowing() bool { return d.changes != nil }

// showAll shows every session.
func (d *tmuxDisplay) showAll() {
	if d.changes == nil {
		return
	}
	for _, one := range d.view.tracker.sessions.Snapshot() {
		d.showChange(wire.SessionChange{Session: d.view.sessionInfo(one), Gone: !one.Live() && !one.CutOff})
	}
}

func (d *tmuxDisplay) showChange(c wire.SessionChange) {
	if d.changes == nil {
		return
	}
	select {
	case d.changes <- tmuxChange(&c):
	default:
	}
}

// tmuxChange returns a change as tmux shows it. A session without a pane is counted
// all the same: who waits in another terminal waits too.
func tmuxChange(c *wire.SessionChange) tmux.Change {
	change := tmux.Change{
		Session: c.Session.Agent + ":" + c.Session.ID, Agent: c.Session.Agent, Title: c.Session.Title,
		Status: c.Session.Status, Gone: c.Gone || c.Session.Ended != nil && !c.Session.CutOff,
	}
	if u := c.Session.Usage; u != nil {
		change.Used = tmux.Used{Cost: u.Short(), Tokens: wire.Count(u.Tokens), ContextLeft: u.Left()}
	}
	if c.Session.Mux == "tmux" {
		change.Pane, change.Socket = c.Session.Pane, c.Session.Server
	}
	return change
}

// stopFollowing stops and waits until tmux has its own names back.
func (d *tmuxDisplay) stopFollowing() {
	if d.changes != nil {
		close(d.changes)
		<-d.stopped
		d.changes = nil
	}
}
