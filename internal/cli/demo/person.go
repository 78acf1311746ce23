package demo

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// oneUser is the machine as the demo's daemon sees it: a user who logged in and runs this
// process in their shell. The daemon lives in this process and has no agents except the
// recorded ones, so nothing can be decided here that matters.
type oneUser struct{}

var _ authority.Source = oneUser{}

const (
	personTTY = "/dev/pts/1"
	loginPID  = 1
	shellPID  = 2
)

func (oneUser) Lookup(pid int) (proc.Process, error) {
	p := proc.Process{PID: pid, UID: os.Getuid(), EUID: os.Getuid(), SID: shellPID, PGID: pid, TTY: personTTY,
		Foreground: os.Getpid(), Start: uint64(pid), StartTime: time.Now().Add(-time.Hour)}
	switch pid {
	case os.Getpid():
		p.Name, p.PPID, p.Start = "hookmux", shellPID, shellPID+1
	case shellPID:
		p.Name, p.PPID = "sh", loginPID
	case loginPID:
		p = proc.Process{PID: pid, SID: pid, PGID: pid, Name: "sshd", Start: loginPID, StartTime: p.StartTime}
	default:
		return proc.Process{}, proc.ErrGone
	}
	return p, nil
}

func (oneUser) Program(pid int) (string, error) {
	p, err := oneUser{}.Lookup(pid)
	return "/usr/bin/" + p.Name, err
}

func (oneUser) Args(pid int) ([]string, error) {
	p, err := oneUser{}.Lookup(pid)
	return []string{p.Name}, err
}

// Sound and Hookmux believe the programs of this machine: they have no files to check.
func (oneUser) Sound(int, proc.Process, string) bool { return true }
func (oneUser) Hookmux(proc.Process, string) bool    { return true }

func (oneUser) Stdin(int) (string, error)     { return personTTY, nil }
func (oneUser) Typists(string) ([]int, error) { return nil, nil }

func (oneUser) AgentSeen(string) (time.Time, error) { return time.Time{}, nil }
func (oneUser) RanBefore(int) (bool, error)         { return false, nil }

func (oneUser) Environ(int) ([]string, error)          { return nil, nil }
func (oneUser) FileLocks(int) (uint64, error)          { return authority.Unlimited, nil }
func (oneUser) HoldsMaster(int, string) (bool, error)  { return true, nil }
func (oneUser) Connected(int, int) (bool, error)       { return false, authority.ErrUnknown }
func (oneUser) Clients(proc.Process) ([]int, error)    { return nil, authority.ErrUnknown }
func (oneUser) LocalCallers() ([]int, error)           { return nil, nil }
func (oneUser) Relays(int) (bool, error)               { return true, nil }
func (oneUser) Display(int) (authority.Display, error) { return authority.Display{}, nil }

func (oneUser) Tmux(proc.Process) (authority.Tmux, error) {
	return authority.Tmux{}, authority.ErrUnknown
}

func (oneUser) Terminal(string) (authority.Terminal, error) {
	return authority.Terminal{Access: time.Now(), Change: time.Unix(1, 0)}, nil
}

func (oneUser) Logins() ([]authority.Login, error) {
	return []authority.Login{{TTY: personTTY, PID: loginPID, Remote: "192.0.2.1"}}, nil
}

// agrees types every code that the demo's daemon asks for: it protects nothing of the user's.
type agrees struct{}

func (agrees) AskCode(context.Context, *authority.Verdict, authority.Action) error { return nil }

func (agrees) AskPIN(context.Context, *authority.Verdict, authority.Action, func(string) error) error {
	return errors.New("the demo has no PIN")
}
