package sessions

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/store"
	"github.com/hookmux/hookmux/internal/tmux"
)

// Process is a process as the process table names it, with its terminal.
type Process struct {
	PID   int
	Start uint64
	TTY   string
	// Holder is the terminal's first process, where the agent's is not known.
	Holder      int
	HolderStart uint64
}

// paneFinder knows in which pane an agent really runs. What the environment of a
// process says may be inherited or stale, so tmux is asked once for each process
// whether the pane's own processes agree.
type paneFinder struct {
	ctx     context.Context
	deps    services.Deps
	tracker *tracker
	records *store.Store

	mu      sync.RWMutex
	checked map[processKey]checkedPane
	running sync.WaitGroup
	asking  sync.Mutex // one question to tmux at a time
}

type checkedPane struct {
	claim  string // what was checked
	place  event.Place
	sure   bool
	asking bool
}

const maxCheckedPanes = 4096

func newPaneFinder(ctx context.Context, deps services.Deps, t *tracker, records *store.Store) *paneFinder {
	return &paneFinder{ctx: ctx, deps: deps, tracker: t, records: records, checked: map[processKey]checkedPane{}}
}

// locateProcess returns where a process runs, as far as it and its environment show.
// claimed is the caller's own claim.
func (p *paneFinder) locateProcess(who Process, claimed event.Place, environ []byte) event.Place {
	at := event.Place{
		PID: who.PID, Start: who.Start, TTY: who.TTY, Holder: who.Holder, HolderStart: who.HolderStart,
	}
	if claimed.Shared {
		at.Shared, at.TTY = true, ""
		return at
	}
	found := findPaneVariables(environ)
	env := found.valueOf
	spot := tmux.Where(env)
	at.Pane, at.Mux, at.Server = spot.Pane, spot.Kind, spot.Session
	if at.Pane == "" {
		at.Pane = claimed.Pane
	}
	if at.Mux == "tmux" {
		at.MuxPID = tmuxServerPID(env("TMUX"))
	}
	p.correctPlace(&at)
	return at
}

// paneVariableNames are the variables by which multiplexers name a pane.
var paneVariableNames = [...]string{
	"TMUX", "TMUX_PANE", "ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME", "WEZTERM_PANE", "WEZTERM_UNIX_SOCKET",
	"KITTY_WINDOW_ID", "KITTY_LISTEN_ON", "ITERM_SESSION_ID",
}

// findPaneVariables finds those variables in one pass: this is done at every
// hook call.
func findPaneVariables(environ []byte) (found paneVariables) {
	for rest := environ; len(rest) > 0 && found.n < len(found.names); {
		end := bytes.IndexByte(rest, 0)
		one := rest
		if end >= 0 {
			one, rest = rest[:end], rest[end+1:]
		} else {
			rest = nil
		}
		if len(one) < 5 || one[0] != 'T' && one[0] != 'Z' && one[0] != 'W' && one[0] != 'K' &&
			one[0] != 'I' {
			continue
		}
		for _, name := range paneVariableNames {
			if len(one) > len(name) && one[len(name)] == '=' && string(one[:len(name)]) == name {
				found.names[found.n], found.values[found.n] = name, one[len(name)+1:]
				found.n++
				break
			}
		}
	}
	return found
}

// paneVariables are the variables that were found.
type paneVariables struct {
	n      int
	names  [len(paneVariableNames)]string
	values [len(paneVariableNames)][]byte
}

func (s *paneVariables) valueOf(name string) string {
	for i := range s.n {
		if s.names[i] == name {
			return string(s.values[i])
		}
	}
	return ""
}

// tmuxServerPID returns the server's process, the last field but one of TMUX.
func tmuxServerPID(value string) int {
	fields := strings.Split(value, ",")
	if len(fields) < 3 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[len(fields)-2])
	return pid
}

func claimOf(at event.Place) string { return at.Mux + "\x00" + at.Server + "\x00" + at.Pane }

// correctPlace puts what tmux said in the place of what the environment says.
// Hook calls use it; it only looks into memory.
func (p *paneFinder) correctPlace(at *event.Place) {
	p.mu.RLock()
	known, ok := p.checked[processAt(*at)]
	p.mu.RUnlock()
	if ok && known.sure && known.claim == claimOf(*at) {
		at.Pane, at.Mux, at.Server, at.MuxPID = known.place.Pane, known.place.Mux, known.place.Server,
			known.place.MuxPID
	}
}

// canCheck reports whether tmux can say anything about a session's pane.
func (p *paneFinder) canCheck(one *state.Session) bool {
	at := one.Place
	switch {
	case !one.Live() || processAt(at).pid <= 0 || at.Shared:
		return false
	case at.PID <= 0 && at.Mux != "":
		return false // the agent itself is not known, so what its call said is all there is
	case at.Mux == "":
		return at.TTY != "" && p.deps.Processes == proc.System()
	}
	return at.Mux == "tmux"
}

// checkPane asks tmux about a session's pane, once.
func (p *paneFinder) checkPane(one *state.Session) {
	if !p.canCheck(one) {
		return
	}
	at, key := one.Place, processOf(one)
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.checked[key]
	if ok && (known.asking || known.claim == claimOf(at) || samePlace(known.place, at)) {
		return
	}
	if len(p.checked) >= maxCheckedPanes {
		clear(p.checked)
	}
	p.checked[key] = checkedPane{claim: claimOf(at), asking: true}
	p.running.Go(func() { p.askTmux(one.Key, at) })
}

func samePlace(a, b event.Place) bool {
	return a.Pane == b.Pane && a.Mux == b.Mux && a.Server == b.Server
}

func (p *paneFinder) askTmux(key state.Key, at event.Place) {
	p.asking.Lock()
	defer p.asking.Unlock()
	server := &tmux.Server{Socket: at.Server}
	hint := tmux.Hint{PID: processAt(at).pid, TTY: at.TTY, Pane: at.Pane}
	found, ok, err := server.PaneOf(p.ctx, p.deps.Processes, hint)
	now := checkedPane{claim: claimOf(at), place: at, sure: true}
	switch {
	case errors.Is(err, tmux.ErrNoTmux):
		now.sure = false // nobody to ask: what is claimed stays
	case err != nil && !errors.Is(err, tmux.ErrNoServer):
		now.sure = false
	case ok:
		now.place.Pane, now.place.Mux = found.ID, "tmux"
	default: // it sits in none
		now.place.Pane, now.place.Mux, now.place.Server, now.place.MuxPID = "", "", "", 0
	}
	p.mu.Lock()
	p.checked[processAt(at)] = now
	p.mu.Unlock()
	if !now.sure || samePlace(now.place, at) {
		return
	}
	one, there := p.tracker.sessions.Get(key)
	if there && processOf(one) == processAt(at) && samePlace(one.Place, at) {
		place := one.Place
		place.Pane, place.Mux, place.Server, place.MuxPID = now.place.Pane, now.place.Mux, now.place.Server,
			now.place.MuxPID
		p.tracker.setPlace(key, place)
	}
}

// forgetProcess drops what is known about a process that ended.
func (p *paneFinder) forgetProcess(key processKey) {
	p.mu.Lock()
	delete(p.checked, key)
	p.mu.Unlock()
}

func (p *paneFinder) waitStopped() { p.running.Wait() }
