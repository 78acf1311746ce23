package sessions

import (
	"context"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// followClient ends a session of a shared daemon when the terminal that shows it
// is gone. The daemon itself goes on, and no hook tells.
func (p *paneFinder) followClient(key state.Key, daemon event.Place, pid int) {
	found, err := p.deps.Processes.Lookup(pid)
	if err != nil {
		return // it is gone already: the next question finds that out
	}
	client := processKey{pid, found.Start}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown[key] == client {
		return
	}
	if len(p.shown) >= maxCheckedPanes {
		clear(p.shown)
	}
	p.shown[key] = client
	p.running.Go(func() {
		ended, err := proc.WatchExit(p.ctx, client.pid, client.start)
		if err != nil {
			return
		}
		select {
		case <-p.ctx.Done():
		case <-ended:
			p.clientGone(key, daemon, client)
		}
	})
}

// clientGone ends a session unless another terminal shows it. A turn that goes on
// in the daemon is waited for.
func (p *paneFinder) clientGone(key state.Key, daemon event.Place, client processKey) {
	for {
		one, there := p.tracker.book.Get(key)
		if !there || !one.Live() || one.Place.PID != daemon.PID || one.Place.Start != daemon.Start {
			return
		}
		ctx, cancel := context.WithTimeout(p.ctx, clientTime)
		next, shown := p.client(ctx, key, daemon)
		cancel()
		if shown && next != client.pid {
			p.followClient(key, daemon, next)
			return
		}
		if !one.Turn.Open() {
			p.tracker.noteChange(p.tracker.book.ClientGone(key, time.Now()))
			return
		}
		select {
		case <-p.ctx.Done():
			return
		case <-time.After(clientPeriod):
		}
	}
}
