// Package authoritytest plays the machine that the rules of authority look at,
// so that tests can put a person at a terminal without one. It is for tests
// inside a process: nothing a program is started with leads here.
package authoritytest

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Machine adds to a table of processes what else the rules want to know. What
// is left out speaks for a person: terminals are held by who is said to hold
// them, nobody limited anything, and somebody has just typed.
type Machine struct {
	proc.Table
	// Limits are limits on file locks, by process.
	Limits map[int]uint64
	// Unheld are processes that do not hold the terminal of their children;
	// Hidden ones do not let their descriptors be read.
	Unheld, Hidden map[int]bool
	// TTYs replaces the times of terminals.
	TTYs map[string]authority.Terminal
	// Servers are tmux servers, by process; one that is missing does not answer.
	Servers map[int]authority.Tmux
	// Unconnected are clients that are not connected to the server they claim.
	Unconnected map[int]bool
	// Attached are the clients of other multiplexers.
	Attached map[int][]int
	Displays map[int]authority.Display
	LoggedIn []authority.Login
	Callers  []int
	// HiddenCallers says that some of them do not let themselves be seen.
	HiddenCallers bool
	// HungUp are logins whose daemon passes nothing on any more.
	HungUp map[int]bool
	// Stdins replaces what shells read from; Sharing are processes that could
	// type into a terminal.
	Stdins  map[int]string
	Sharing map[string][]int
	// Visited is when agents were at terminals; Became are processes that ran
	// another program before.
	Visited map[string]time.Time
	Became  map[int]bool
	// Typed is when somebody typed last, at every terminal; zero means now.
	Typed time.Time
}

var _ authority.Source = Machine{}

// Agrees is a person who types every code, and remembers what for.
type Agrees struct {
	mu    sync.Mutex
	asked []string
}

// AskCode is a person who reads and confirms.
func (a *Agrees) AskCode(_ context.Context, _ *authority.Verdict, action authority.Action) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, action.Text)
	return nil
}

// AskPIN is a person who does not know it.
func (a *Agrees) AskPIN(_ context.Context, _ *authority.Verdict, _ authority.Action, check func(string) error) error {
	return check("0000")
}

// Asked lists what the user was asked.
func (a *Agrees) Asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// Lookup puts processes into the foreground of their terminal, unless the
// table says who else is there.
func (m Machine) Lookup(pid int) (proc.Process, error) {
	p, err := m.Table.Lookup(pid)
	if err == nil && p.TTY != "" && p.Foreground == 0 {
		p.Foreground = p.PGID
	}
	return p, err
}

// Sound believes install places by their names alone: the files do not exist.
func (m Machine) Sound(_ int, _ proc.Process, program string) bool {
	return strings.HasPrefix(program, "/usr/")
}

// Hookmux believes the name alone, for the same reason.
func (m Machine) Hookmux(_ proc.Process, program string) bool { return path.Base(program) == "hookmux" }

func (m Machine) FileLocks(pid int) (uint64, error) {
	if limit, ok := m.Limits[pid]; ok {
		return limit, nil
	}
	return authority.Unlimited, nil
}

func (m Machine) HoldsMaster(pid int, _ string) (bool, error) {
	if m.Hidden[pid] {
		return false, authority.ErrUnknown
	}
	return !m.Unheld[pid], nil
}

func (m Machine) Terminal(tty string) (authority.Terminal, error) {
	if t, ok := m.TTYs[tty]; ok {
		return t, nil
	}
	typed := m.Typed
	if typed.IsZero() {
		typed = time.Now()
	}
	return authority.Terminal{Access: typed, Change: time.Unix(1, 0)}, nil
}

func (m Machine) Tmux(server proc.Process) (authority.Tmux, error) {
	if t, ok := m.Servers[server.PID]; ok {
		return t, nil
	}
	return authority.Tmux{}, authority.ErrUnknown
}

func (m Machine) Connected(client, _ int) (bool, error) { return !m.Unconnected[client], nil }

func (m Machine) Clients(server proc.Process) ([]int, error) { return m.Attached[server.PID], nil }

func (m Machine) Display(pid int) (authority.Display, error) { return m.Displays[pid], nil }

func (m Machine) Logins() ([]authority.Login, error) { return m.LoggedIn, nil }

func (m Machine) LocalCallers() ([]int, error) {
	if m.HiddenCallers {
		return nil, authority.ErrUnknown
	}
	return m.Callers, nil
}

func (m Machine) Relays(pid int) (bool, error) { return !m.HungUp[pid], nil }

func (m Machine) Stdin(pid int) (string, error) {
	if tty, ok := m.Stdins[pid]; ok {
		return tty, nil
	}
	p, err := m.Lookup(pid)
	return p.TTY, err
}

func (m Machine) Typists(tty string) ([]int, error) { return m.Sharing[tty], nil }

func (m Machine) AgentSeen(tty string) (time.Time, error) { return m.Visited[tty], nil }

func (m Machine) RanBefore(pid int) (bool, error) { return m.Became[pid], nil }
