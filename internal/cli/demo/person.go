package demo

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// onePerson is the machine as the demo's daemon sees it: a person who logged in and
// runs this process in their shell. The daemon lives in this process and has no
// agents but the recorded ones, so nothing can be decided here that matters.
type onePerson struct{}

var _ authority.Source = onePerson{}

const (
	personTTY = "/dev/pts/1"
	loginPID  = 1
	shellPID  = 2
)

func (onePerson) Lookup(pid int) (proc.Process, error) {
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

func (onePerson) Program(pid int) (string, error) {
	p, err := onePerson{}.Lookup(pid)
	return "/usr/bin/" + p.Name, err
}

func (onePerson) Args(pid int) ([]string, error) {
	p, err := onePerson{}.Lookup(pid)
	return []string{p.Name}, err
}

// Sound and Hookmux believe the programs of this machine: there is no file behind them.
func (onePerson) Sound(int, proc.Process, string) bool { return true }
func (onePerson) Hookmux(proc.Process, string) bool    { return true }

func (onePerson) Stdin(int) (string, error)     { return personTTY, nil }
func (onePerson) Typists(string) ([]int, error) { return nil, nil }

func (onePerson) AgentSeen(string) (time.Time, error) { return time.Time{}, nil }
func (onePerson) RanBefore(int) (bool, error)         { return false, nil }

func (onePerson) Environ(int) ([]string, error)          { return nil, nil }
func (onePerson) FileLocks(int) (uint64, error)          { return authority.Unlimited, nil }
func (onePerson) HoldsMaster(int, string) (bool, error)  { return true, nil }
func (onePerson) Connected(int, int) (bool, error)       { return false, authority.ErrUnknown }
func (onePerson) Clients(proc.Process) ([]int, error)    { return nil, authority.ErrUnknown }
func (onePerson) LocalCallers() ([]int, error)           { return nil, nil }
func (onePerson) Relays(int) (bool, error)               { return true, nil }
func (onePerson) Display(int) (authority.Display, error) { return authority.Display{}, nil }

func (onePerson) Tmux(proc.Process) (authority.Tmux, error) {
	return authority.Tmux{}, authority.ErrUnknown
}

func (onePerson) Terminal(string) (authority.Terminal, error) {
	return authority.Terminal{Access: time.Now(), Change: time.Unix(1, 0)}, nil
}

func (onePerson) Logins() ([]authority.Login, error) {
	return []authority.Login{{TTY: personTTY, PID: loginPID, Remote: "192.0.2.1"}}, nil
}

// agrees types every code that the demo's daemon asks for: it guards nothing of theirs.
type agrees struct{}

func (agrees) AskCode(context.Context, *authority.Verdict, authority.Action) error { return nil }

func (agrees) AskPIN(context.Context, *authority.Verdict, authority.Action, func(string) error) error {
	return errors.New("the demo has no PIN")
}
