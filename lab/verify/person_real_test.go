package verify

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Ends of the sockets' paths of the tmux servers in which a test bed's person types:
// one of their own, and the one in which the test bed starts its agent first.
const (
	personSocket = "/person"
	agentSocket  = "/tmux1"
)

// trustedPerson lets somebody look at the user's tmux, who sits at a terminal
// and types: nobody is attached to it in a test. Everything else is as it is on
// this machine, so that what agents try is evaluated by what they are.
type trustedPerson struct {
	*terminal.Source
	socket string
}

// terminalPerson lets the daemon of the test bed believe that a person sits at the tmux with
// that socket, and types every code. It comes before the daemon is started.
func terminalPerson(st *testbed.TestBed, socket string) *authoritytest.Agrees {
	agrees := &authoritytest.Agrees{}
	st.Facts, st.Asker = trustedPerson{terminal.NewSource(st.ProcessTable(), os.Getuid()), socket}, agrees
	return agrees
}

const (
	personClient = 1<<29 + 7 // far beyond what a kernel gives out
	personTTY    = "/dev/seat"
)

func (p trustedPerson) Lookup(pid int) (proc.Process, error) {
	if pid == personClient {
		return proc.Process{PID: pid, SID: pid, PGID: pid, Foreground: pid, TTY: personTTY, Name: "tmux", Start: 1,
			UID: os.Getuid(), EUID: os.Getuid()}, nil
	}
	return p.Source.Lookup(pid)
}

func (p trustedPerson) Terminal(tty string) (authority.Terminal, error) {
	if tty == personTTY {
		return authority.Terminal{Access: time.Now(), Change: time.Unix(1, 0)}, nil
	}
	return p.Source.Terminal(tty)
}

func (p trustedPerson) Connected(client, server int) (bool, error) {
	if client == personClient {
		return true, nil
	}
	return p.Source.Connected(client, server)
}

func (p trustedPerson) Tmux(server proc.Process) (authority.Tmux, error) {
	t, err := p.Source.Tmux(server)
	if err != nil {
		return t, err
	}
	args, err := p.Args(server.PID)
	if err == nil && slices.ContainsFunc(args, func(arg string) bool { return strings.HasSuffix(arg, p.socket) }) {
		for _, pane := range t.Panes {
			t.Clients = append(t.Clients, authority.TmuxClient{PID: personClient, Name: personTTY, Pane: pane.ID,
				Active: time.Now()})
		}
	}
	return t, nil
}
