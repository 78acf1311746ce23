package sessions

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/tmux"
	"github.com/hookmux/hookmux/internal/sessions/codexdaemon"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

const (
	// clientPeriod is how often at most a daemon is asked about a session: it may
	// be taken up in another terminal at any time.
	clientPeriod = 3 * time.Second
	// clientTime is how long the answer may take.
	clientTime = 5 * time.Second
)

// checkClient asks a shared daemon which of its clients shows the session, and
// with that in which pane it is.
func (p *paneFinder) checkClient(one *state.Session) {
	a, ok := p.deps.Catalogue.Agent(one.Agent)
	if !ok || a.Pane.Clients != agent.ClientsByControlSocket || !one.Place.Shared || !one.Live() ||
		one.Place.PID <= 0 ||
		p.deps.Processes != proc.System() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.clients[one.Key]) < clientPeriod {
		return
	}
	if len(p.clients) >= maxCheckedPanes {
		clear(p.clients)
	}
	p.clients[one.Key] = time.Now()
	p.running.Go(func() { p.askDaemon(one.Key, one.Place) })
}

// findClient is the process of the terminal that shows a session of a daemon.
func (p *paneFinder) findClient(ctx context.Context, key state.Key, daemon event.Place) (pid int, ok bool) {
	port, err := codexdaemon.ClientPort(ctx, codexdaemon.SocketPath(p.codexHome(daemon.PID)), key.ID)
	if err != nil {
		p.deps.Log.Debug("the daemon does not say which terminal shows a session", "session", key.String(), "error",
			err)
		return 0, false
	}
	return proc.ListenerOwner(port, namedProcesses(p.deps.Processes, "codex"))
}

func (p *paneFinder) askDaemon(key state.Key, daemon event.Place) {
	ctx, cancel := context.WithTimeout(p.ctx, clientTime)
	defer cancel()
	client, ok := p.client(ctx, key, daemon)
	if !ok {
		return
	}
	p.followClient(key, daemon, client)
	place, ok := p.clientPlace(ctx, client)
	if !ok {
		return
	}
	one, there := p.tracker.book.Get(key)
	if !there || one.Place.PID != daemon.PID || one.Place.Start != daemon.Start {
		return
	}
	next := one.Place
	next.Pane, next.Mux, next.Server, next.TTY = place.Pane, place.Mux, place.Server, place.TTY
	if next != one.Place {
		p.tracker.noteChange(p.tracker.book.SetPlace(key, next))
	}
}

// clientPlace is where a client of the daemon sits: its pane, when tmux agrees,
// else its terminal.
func (p *paneFinder) clientPlace(ctx context.Context, pid int) (event.Place, bool) {
	client, err := p.deps.Processes.Lookup(pid)
	if err != nil {
		return event.Place{}, false
	}
	place := event.Place{TTY: client.TTY}
	environ, err := p.deps.Processes.Environ(pid)
	if err != nil {
		return place, place.TTY != ""
	}
	spot := tmux.Where(paths.GetenvFrom(environ))
	if spot.Kind != "tmux" {
		return place, place.TTY != ""
	}
	server := &tmux.Server{Socket: spot.Session}
	pane, sits, err := server.PaneOf(ctx, p.deps.Processes, tmux.Hint{PID: pid, TTY: client.TTY, Pane: spot.Pane})
	if err == nil && sits {
		place.Pane, place.Mux, place.Server = pane.ID, "tmux", spot.Session
	}
	return place, place.TTY != "" || place.Pane != ""
}

// codexHome is the folder a daemon of Codex keeps its files in.
func (p *paneFinder) codexHome(pid int) string {
	environ, _ := p.deps.Processes.Environ(pid)
	lookup := paths.GetenvFrom(environ)
	if home := lookup("CODEX_HOME"); home != "" {
		return home
	}
	if home := lookup("HOME"); home != "" {
		return filepath.Join(home, ".codex")
	}
	return filepath.Join(p.deps.Dirs.Home, ".codex")
}

// namedProcesses are the processes that call themselves so.
func namedProcesses(table proc.Table, name string) []int {
	var found []int
	for _, pid := range proc.List() {
		if p, err := table.Lookup(pid); err == nil && p.Name == name {
			found = append(found, pid)
		}
	}
	return found
}
