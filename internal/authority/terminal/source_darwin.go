package terminal

import (
	"os"
	"strconv"
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
	return authority.Terminal{Access: time.Unix(st.Atimespec.Unix()), Change: time.Unix(st.Ctimespec.Unix())}, nil
}

// HoldsMaster believes the session leader's parent: macOS does not let one ask
// which terminal a master belongs to, and nothing can be injected into hardened programs.
func (s *Source) HoldsMaster(int, string) (bool, error) { return true, nil }

// Connected believes the server: its sockets' peers cannot be asked for.
func (s *Source) Connected(int, int) (bool, error) { return true, nil }

// Clients is not known.
func (s *Source) Clients(proc.Process) ([]int, error) { return nil, authority.ErrUnknown }

// Display accepts every installed application: there is one display, and what draws on it
// isn't known.
func (s *Source) Display(pid int) (authority.Display, error) {
	program, err := s.Program(pid)
	if err != nil || !strings.Contains(program, ".app/") {
		return authority.Display{}, err
	}
	return authority.Display{PID: pid, Input: true}, nil
}

// Relays is not known.
func (s *Source) Relays(int) (bool, error) { return false, authority.ErrUnknown }

// LocalCallers is not known.
func (s *Source) LocalCallers() ([]int, error) { return nil, authority.ErrUnknown }

// Stdin believes that a program reads where it runs: descriptors of others cannot be asked for.
func (s *Source) Stdin(pid int) (string, error) {
	p, err := s.Lookup(pid)
	return p.TTY, err
}

// Typists returns all processes at a terminal: macOS lets them type into it.
func (s *Source) Typists(tty string) ([]int, error) { return proc.AtTerminal(tty), nil }

// listeningAt finds a tmux server's socket by its arguments or its usual place.
func listeningAt(pid int) (string, error) {
	args, err := proc.System().Args(pid)
	if err != nil {
		return "", err
	}
	name := "default"
	for i := 1; i+1 < len(args); i++ {
		switch args[i] {
		case "-S":
			return args[i+1], nil
		case "-L":
			name = args[i+1]
		}
	}
	return "/private/tmp/tmux-" + strconv.Itoa(os.Getuid()) + "/" + name, nil
}

// masters are not known.
func (s *Source) masters(int) ([]string, error) { return nil, authority.ErrUnknown }

// canTypeAhead reports whether programs may type into their own terminal.
func canTypeAhead() bool { return true }

// RanBefore is not known here, and not held against anybody.
func (s *Source) RanBefore(int) (bool, error) { return false, nil }
