package sessions

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/codexdaemon"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/tmux"
)

const (
	// clientPeriod is how often at most a daemon is asked about a session: it may
	// be taken up in another terminal at any time.
	clientPeriod = 3 * time.Second
	// clientTime is how long the answer may take.
	clientTime = 5 * time.Second
	// maxDaemonSessions bounds what is remembered of sessions.
	maxDaemonSessions = 4096
)

// daemonClients knows which terminal shows a session of a daemon that several
// sessions share: the daemon is asked, because its own process sits in no pane.
type daemonClients struct {
	ctx     context.Context
	deps    services.Deps
	tracker *tracker
	// find finds that terminal; a test has its own.
	find func(ctx context.Context, key state.Key, daemon event.Place) (pid int, ok bool)

	mu      sync.Mutex
	asked   map[state.Key]time.Time  // when the daemon was last asked about a session
	shown   map[state.Key]processKey // the terminal that shows it
	running sync.WaitGroup
}

func newDaemonClients(ctx context.Context, deps services.Deps, t *tracker) *daemonClients {
	d := &daemonClients{ctx: ctx, deps: deps, tracker: t, asked: map[state.Key]time.Time{},
		shown: map[state.Key]processKey{}}
	d.find = d.findClient
	return d
}

func (d *daemonClients) waitStopped() { d.running.Wait() }

// checkClient asks a shared daemon which of its clients shows the session, and
// with that in which pane it is.
func (d *daemonClients) checkClient(one *state.Session) {
	a, ok := d.deps.Catalogue.Agent(one.Agent)
	if !ok || a.Pane.Clients != agent.ClientsByControlSocket || !one.Place.Shared || !one.Live() ||
		one.Place.PID <= 0 ||
		d.deps.Processes != proc.System() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.asked[one.Key]) < clientPeriod {
		return
	}
	if len(d.asked) >= maxDaemonSessions {
		clear(d.asked)
	}
	d.asked[one.Key] = time.Now()
	d.running.Go(func() { d.askDaemon(one.Key, one.Place) })
}

// findClient returns the process of the terminal that shows a session of a daemon.
func (d *daemonClients) findClient(ctx context.Context, key state.Key, daemon event.Place) (pid int, ok bool) {
	folder := d.agentFolder(key.Agent, daemon.PID)
	if folder == "" {
		return 0, false
	}
	port, err := codexdaemon.ClientPort(ctx, codexdaemon.SocketPath(folder), key.ID)
	if err != nil {
		d.deps.Log.Debug("the daemon does not say which terminal shows a session", "session", key.String(), "error",
			err)
		return 0, false
	}
	a, known := d.deps.Catalogue.Agent(key.Agent)
	if !known {
		return 0, false
	}
	return proc.ListenerOwner(port, namedProcesses(d.deps.Processes, a.Marks.Programs))
}

func (d *daemonClients) askDaemon(key state.Key, daemon event.Place) {
	ctx, cancel := context.WithTimeout(d.ctx, clientTime)
	defer cancel()
	client, ok := d.find(ctx, key, daemon)
	if !ok {
		return
	}
	d.followClient(key, daemon, client)
	place, ok := d.clientPlace(ctx, client)
	if !ok {
		return
	}
	one, there := d.tracker.sessions.Get(key)
	if !there || one.Place.PID != daemon.PID || one.Place.Start != daemon.Start {
		return
	}
	next := one.Place
	next.Pane, next.Mux, next.Server, next.TTY = place.Pane, place.Mux, place.Server, place.TTY
	next.Holder, next.HolderStart = place.PID, place.Start
	if next != one.Place {
		d.tracker.setPlace(key, next)
	}
}

// terminalNow returns the terminal that shows a session of a shared daemon now; the daemon is asked.
func (d *daemonClients) terminalNow(ctx context.Context, one *state.Session) (event.Place, bool) {
	a, ok := d.deps.Catalogue.Agent(one.Agent)
	if !ok || a.Pane.Clients != agent.ClientsByControlSocket || one.Place.PID <= 0 {
		return event.Place{}, false
	}
	pid, ok := d.find(ctx, one.Key, one.Place)
	if !ok {
		return event.Place{}, false
	}
	return d.clientPlace(ctx, pid)
}

// clientPlace returns where a client of the daemon sits: its pane, when tmux agrees,
// else its terminal. It's false when the client is gone.
func (d *daemonClients) clientPlace(ctx context.Context, pid int) (event.Place, bool) {
	client, err := d.deps.Processes.Lookup(pid)
	if err != nil {
		return event.Place{}, false
	}
	place := event.Place{PID: pid, Start: client.Start, TTY: client.TTY}
	environ, err := d.deps.Processes.Environ(pid)
	if err != nil {
		return place, true
	}
	spot := tmux.Where(paths.GetenvFrom(environ))
	if spot.Kind != "tmux" {
		return place, true
	}
	server := &tmux.Server{Socket: spot.Session}
	pane, sits, err := server.PaneOf(ctx, d.deps.Processes, tmux.Hint{PID: pid, TTY: client.TTY, Pane: spot.Pane})
	if err == nil && sits {
		place.Pane, place.Mux, place.Server = pane.ID, "tmux", spot.Session
	}
	return place, true
}

// agentFolder returns the folder in which the agent of a daemon keeps its files, by the daemon's
// own variables; "" where its entry does not say.
func (d *daemonClients) agentFolder(name string, pid int) string {
	a, ok := d.deps.Catalogue.Agent(name)
	if !ok || len(a.Files) == 0 {
		return ""
	}
	environ, _ := d.deps.Processes.Environ(pid)
	lookup := paths.GetenvFrom(environ)
	home := cmp.Or(lookup("HOME"), d.deps.Dirs.Home)
	return filepath.Dir(a.Files[0].Resolve(home, "", lookup))
}

// namedProcesses returns the processes that have one of these names.
func namedProcesses(table proc.Table, names []string) []int {
	var found []int
	for _, pid := range proc.List() {
		if p, err := table.Lookup(pid); err == nil && slices.Contains(names, p.Name) {
			found = append(found, pid)
		}
	}
	return found
}

// followClient ends a session of a shared daemon when the terminal that shows it is gone.
// The daemon itself keeps running, and no hook reports it.
func (d *daemonClients) followClient(key state.Key, daemon event.Place, pid int) {
	found, err := d.deps.Processes.Lookup(pid)
	if err != nil {
		return // it is gone already: the next question finds that out
	}
	client := processKey{pid, found.Start}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shown[key] == client {
		return
	}
	if len(d.shown) >= maxDaemonSessions {
		clear(d.shown)
	}
	d.shown[key] = client
	d.running.Go(func() {
		ended, err := proc.WatchExit(d.ctx, client.pid, client.start)
		if err != nil {
			return
		}
		select {
		case <-d.ctx.Done():
		case <-ended:
			d.clientGone(key, daemon, client)
		}
	})
}

// clientGone ends a session unless another terminal shows it. A turn that goes on
// in the daemon is waited for.
func (d *daemonClients) clientGone(key state.Key, daemon event.Place, client processKey) {
	for {
		one, there := d.tracker.sessions.Get(key)
		if !there || !one.Live() || one.Place.PID != daemon.PID || one.Place.Start != daemon.Start {
			return
		}
		ctx, cancel := context.WithTimeout(d.ctx, clientTime)
		next, shown := d.find(ctx, key, daemon)
		cancel()
		if shown && next != client.pid {
			d.followClient(key, daemon, next)
			return
		}
		if !one.Turn.Open() {
			d.tracker.noteChange(d.tracker.sessions.TerminalGone(key, time.Now()))
			return
		}
		select {
		case <-d.ctx.Done():
			return
		case <-time.After(clientPeriod):
		}
	}
}
