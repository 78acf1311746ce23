package terminal

import (
	"errors"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

func deviceTimes(info os.FileInfo) (authority.Terminal, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return authority.Terminal{}, errNoTimes
	}
	return authority.Terminal{Access: time.Unix(st.Atim.Unix()), Change: time.Unix(st.Ctim.Unix())}, nil
}

// HoldsMaster reports whether a process gives a terminal its keys.
func (s *Source) HoldsMaster(pid int, tty string) (bool, error) { return proc.HoldsMaster(pid, tty) }

// masters returns the terminals of a multiplexer.
func (s *Source) masters(server int) ([]string, error) { return proc.Masters(server) }

// Connected reports whether a socket of client ends at server.
func (s *Source) Connected(client, server int) (bool, error) {
	sockets, err := proc.UnixSockets()
	if err != nil {
		return false, err
	}
	mine, err := proc.SocketNumbers(client)
	if err != nil {
		return false, err
	}
	theirs, err := proc.SocketNumbers(server)
	if err != nil {
		return false, err
	}
	return joinsSockets(sockets, mine, theirs), nil
}

func joinsSockets(sockets []proc.UnixSocket, mine, theirs map[uint32]bool) bool {
	for _, socket := range sockets {
		if socket.Peer != 0 && mine[socket.Number] && theirs[socket.Peer] {
			return true
		}
	}
	return false
}

// Clients lists the processes of this user that run the server's program and
// are connected to it.
func (s *Source) Clients(server proc.Process) ([]int, error) {
	program, err := s.Program(server.PID)
	if err != nil {
		return nil, err
	}
	sockets, err := proc.UnixSockets()
	if err != nil {
		return nil, err
	}
	theirs, err := proc.SocketNumbers(server.PID)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, pid := range proc.List() {
		if other, err := s.Program(pid); err != nil || other != program || pid == server.PID {
			continue
		}
		if mine, err := proc.SocketNumbers(pid); err == nil && joinsSockets(sockets, mine, theirs) {
			found = append(found, pid)
		}
	}
	return found, nil
}

// rootsDisplay represents a display server whose process can't be inspected.
const rootsDisplay = 1

// Display finds the display server that a process is connected to.
func (s *Source) Display(pid int) (authority.Display, error) {
	mine, err := proc.SocketNumbers(pid)
	if err != nil {
		return authority.Display{}, err
	}
	sockets, err := proc.UnixSockets()
	if err != nil {
		return authority.Display{}, err
	}
	ends := map[uint32]bool{}
	for _, socket := range sockets {
		// The server's end has the address that it listens at.
		if mine[socket.Peer] && isDisplayAddress(socket.Path) {
			if socket.UID == 0 && s.uid != 0 {
				return authority.Display{PID: rootsDisplay, Input: true}, nil
			}
			ends[socket.Number] = true
		}
	}
	if len(ends) == 0 {
		return authority.Display{}, nil
	}
	server := findOwner(ends)
	if server == 0 {
		// It does not let itself be looked at, as programs with capabilities do
		// and everybody's copy of an X server can. Nothing says whose it is.
		return authority.Display{}, nil
	}
	files, err := proc.OpenFiles(server)
	if err != nil {
		return authority.Display{}, err
	}
	display := authority.Display{PID: server}
	for _, file := range files {
		display.Input = display.Input || strings.HasPrefix(file, "/dev/input/event")
	}
	return display, nil
}

func isDisplayAddress(address string) bool {
	return strings.HasPrefix(strings.TrimPrefix(address, "@"), "/tmp/.X11-unix/X") ||
		strings.HasPrefix(path.Base(address), "wayland-")
}

// findOwner returns the process that has one of these sockets, 0 when none shows it.
func findOwner(numbers map[uint32]bool) int {
	for _, pid := range proc.List() {
		have, err := proc.SocketNumbers(pid)
		if err != nil {
			continue
		}
		for number := range numbers {
			if have[number] {
				return pid
			}
		}
	}
	return 0
}

var errHiddenCaller = errors.New("a connection to this machine's own login daemon has an owner that cannot be seen")

// LocalCallers finds the user's processes that are connected to a server of root's over the
// machine's own network. The user's processes may also run under other ids: those that
// belong to the user in namespaces, and any that belong to no account.
func (s *Source) LocalCallers() ([]int, error) {
	ends, err := proc.TCPEnds()
	if err != nil {
		return nil, err
	}
	others, err := readAccounts(s.uid)
	if err != nil {
		return nil, err
	}
	type pair struct{ local, remote string }
	ofRoot := map[pair]bool{}
	for _, end := range ends {
		if end.UID == 0 {
			ofRoot[pair{end.Local.String(), end.Remote.String()}] = true
		}
	}
	callers := []int{}
	for _, end := range ends {
		if end.UID != s.uid && !others.mayBeOurs(end.UID) || !ofRoot[pair{end.Remote.String(), end.Local.String()}] {
			continue
		}
		if s.uid == 0 && end.Remote.Port() > end.Local.Port() {
			continue // for root both ends look alike; the server has the lower port
		}
		owner := findOwner(map[uint32]bool{end.Number: true})
		if owner == 0 {
			return nil, errHiddenCaller
		}
		callers = append(callers, owner)
	}
	return callers, nil
}

// Relays makes a login daemon's process go round its loop once more, which ends it if its
// connection is gone. A process of the user's own can be stopped, or kept from running, after
// its client hung up: then no one is there, no connection shows it, and what was typed before
// still waits to be read.
func (s *Source) Relays(pid int) (bool, error) {
	before, err := proc.Pauses(pid)
	if err != nil {
		return false, err
	}
	// The end of a child is looked into and changes nothing.
	if err := syscall.Kill(pid, syscall.SIGCHLD); errors.Is(err, syscall.EPERM) {
		return true, nil // root's, which no program of the user's can stop
	} else if err != nil {
		return false, err
	}
	for end := time.Now().Add(relayPatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		now, err := proc.Pauses(pid)
		if err != nil {
			return false, err
		}
		if now.Sleeps && now.Count > before.Count {
			return true, nil
		}
	}
	return false, nil
}

// relayPatience is how long a login daemon may take for one round on a busy machine.
const relayPatience = 3 * time.Second

// Stdin returns the terminal that a process reads from.
func (s *Source) Stdin(pid int) (string, error) { return proc.StdinTerminal(pid) }

// Typists returns the processes at a terminal, where the kernel lets them type into
// it (TIOCSTI).
func (s *Source) Typists(tty string) ([]int, error) {
	if !canTypeAhead() {
		return nil, nil
	}
	return proc.AtTerminal(tty), nil
}

// canTypeAhead reports whether programs may type into their own terminal.
func canTypeAhead() bool { return letsProgramsType(readSysctl, kernelRelease()) }

// RanBefore asks a process of hookmux what it was before.
func (s *Source) RanBefore(pid int) (bool, error) { return proc.RanBefore(pid) }
