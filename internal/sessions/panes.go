package hub

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/resumestore"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/ui/tmux"
)

// panes knows in which pane an agent really sits. What its environment says is
// hearsay: it may be inherited or stale, so tmux is asked once per process
// whether the pane's own processes agree.
type panes struct {
	s       *sessions
	mu      sync.RWMutex
	checked map[processKey]checkedPane
	going   sync.WaitGroup
	asking  sync.Mutex // one question at a time
}

type checkedPane struct {
	claim  string // what was checked
	place  event.Place
	sure   bool
	asking bool
}

const keepPanes = 4096

func newPanes(s *sessions) *panes { return &panes{s: s, checked: map[processKey]checkedPane{}} }

// whereOf is where a caller runs, as far as its process and environment tell.
func (h *Hub) whereOf(who caller, claimed event.Place, environ []byte) event.Place {
	at := event.Place{PID: who.pid, Start: who.start, TTY: who.tty}
	if claimed.Shared {
		at.Shared, at.TTY = true, ""
		return at
	}
	found := spotVariables(environ)
	env := func(name string) string { return found.value(name) }
	spot := tmux.Where(env)
	at.Pane, at.Mux, at.Server = spot.Pane, spot.Kind, spot.Session
	if at.Pane == "" {
		at.Pane = claimed.Pane
	}
	if at.Mux == "tmux" {
		at.MuxPID = serverPID(env("TMUX"))
	}
	h.sessions.panes.correct(&at)
	return at
}

// spotVariables finds the variables that name a spot in one pass: this is done
// at every hook call.
func spotVariables(environ []byte) (found spots) {
	for rest := environ; len(rest) > 0 && found.n < len(found.names); {
		end := bytes.IndexByte(rest, 0)
		one := rest
		if end >= 0 {
			one, rest = rest[:end], rest[end+1:]
		} else {
			rest = nil
		}
		if len(one) < 5 || one[0] != 'T' && one[0] != 'Z' && one[0] != 'W' && one[0] != 'K' {
			continue
		}
		for _, name := range [...]string{"TMUX", "TMUX_PANE", "ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME", "WEZTERM_PANE", "KITTY_WINDOW_ID"} {
			if len(one) > len(name) && one[len(name)] == '=' && string(one[:len(name)]) == name {
				found.names[found.n], found.values[found.n] = name, one[len(name)+1:]
				found.n++
				break
			}
		}
	}
	return found
}

// spots are the variables that were found.
type spots struct {
	n      int
	names  [6]string
	values [6][]byte
}

func (s *spots) value(name string) string {
	for i := range s.n {
		if s.names[i] == name {
			return string(s.values[i])
		}
	}
	return ""
}

// serverPID is the server's process, the second but last field of TMUX.
func serverPID(value string) int {
	fields := strings.Split(value, ",")
	if len(fields) < 3 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[len(fields)-2])
	return pid
}

func claimOf(at event.Place) string { return at.Mux + "\x00" + at.Server + "\x00" + at.Pane }

// correct puts what tmux said in the place of what the environment says. It is
// called by the corridor and only looks into memory.
func (p *panes) correct(at *event.Place) {
	p.mu.RLock()
	known, ok := p.checked[processKey{at.PID, at.Start}]
	p.mu.RUnlock()
	if ok && known.sure && known.claim == claimOf(*at) {
		at.Pane, at.Mux, at.Server, at.MuxPID = known.place.Pane, known.place.Mux, known.place.Server, known.place.MuxPID
	}
}

// check asks tmux about a session's pane, once.
func (p *panes) check(one *state.Session) {
	at := one.Place
	key := processKey{at.PID, at.Start}
	if !one.Live() || at.PID <= 0 || at.Shared || at.Mux != "" && at.Mux != "tmux" || at.Mux == "" && (at.TTY == "" || !p.s.watches.system) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.checked[key]; ok && (known.asking || known.claim == claimOf(at) || samePlace(known.place, at)) {
		return
	}
	if len(p.checked) >= keepPanes {
		clear(p.checked)
	}
	p.checked[key] = checkedPane{claim: claimOf(at), asking: true}
	p.going.Go(func() { p.ask(one.Key, at) })
}

func samePlace(a, b event.Place) bool {
	return a.Pane == b.Pane && a.Mux == b.Mux && a.Server == b.Server
}

func (p *panes) ask(key state.Key, at event.Place) {
	p.asking.Lock()
	defer p.asking.Unlock()
	server := &tmux.Server{Socket: at.Server}
	found, ok, err := server.PaneOf(p.s.ctx, p.s.deps.Processes, tmux.Hint{PID: at.PID, TTY: at.TTY, Pane: at.Pane})
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
	p.checked[processKey{at.PID, at.Start}] = now
	p.mu.Unlock()
	if !now.sure || samePlace(now.place, at) {
		return
	}
	if one, there := p.s.book.Get(key); there && one.Place.PID == at.PID && one.Place.Start == at.Start && samePlace(one.Place, at) {
		place := one.Place
		place.Pane, place.Mux, place.Server, place.MuxPID = now.place.Pane, now.place.Mux, now.place.Server, now.place.MuxPID
		p.s.note(p.s.book.SetPlace(key, place))
	}
}

// forget drops what is known about a process that ended.
func (p *panes) forget(key processKey) {
	p.mu.Lock()
	delete(p.checked, key)
	p.mu.Unlock()
}

// left looks, a moment after a session's process ended, whether its pane went
// with it: then the person closed it, and does not want it back.
func (p *panes) left(key state.Key) {
	if _, ok := p.s.records.Get(key.Agent, key.ID); !ok {
		return
	}
	p.going.Go(func() {
		if wait(p.s.ctx, time.Second) {
			p.dropClosed(p.s.ctx, func(r resumestore.Record) bool { return r.Agent == key.Agent && r.Session == key.ID })
		}
	})
}

// sweep forgets the records of panes that were closed meanwhile.
func (p *panes) sweep(ctx context.Context) {
	p.going.Go(func() { p.dropClosed(ctx, func(resumestore.Record) bool { return true }) })
}

// dropClosed deletes records whose pane is gone while its tmux server lives.
// A server that is gone says nothing: that is what a reboot looks like.
func (p *panes) dropClosed(ctx context.Context, about func(resumestore.Record) bool) {
	p.asking.Lock()
	defer p.asking.Unlock()
	open := map[string]map[string]bool{} // server → panes; nil: not to be known
	for _, r := range p.s.records.List() {
		if r.Mux != "tmux" || r.Pane == "" || r.MuxPID <= 0 || !about(r) {
			continue
		}
		there, asked := open[r.Server]
		if !asked {
			there = panesOf(ctx, p.s.deps.Processes, r)
			open[r.Server] = there
		}
		if there != nil && !there[r.Pane] {
			p.s.records.Forget(r.Agent, r.Session)
		}
	}
}

func panesOf(ctx context.Context, table proc.Table, r resumestore.Record) map[string]bool {
	server, err := table.Lookup(r.MuxPID)
	if err != nil || !strings.HasPrefix(server.Name, "tmux") || server.Start != r.MuxStart {
		return nil
	}
	list, err := (&tmux.Server{Socket: r.Server}).Panes(ctx)
	if err != nil {
		return nil
	}
	there := map[string]bool{}
	for _, pane := range list {
		there[pane.ID] = true
	}
	return there
}

func (p *panes) end() { p.going.Wait() }
