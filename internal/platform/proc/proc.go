// Package proc shows processes as the daemon sees them: who is on the other end of a socket,
// what runs above it, on which terminal, and when it ends.
//
// Contract: a process is identified by its pid together with Start; a pid alone may be reused
// at any time. Everything here is read at the moment of the call, nothing is cached, and
// reading is cheap enough (a few microseconds per process) for the path of a hook call. In a
// pid namespace PPID and SID may be 0 for relatives outside of it; that is legal and means
// "not visible from here".
package proc

import (
	"errors"
	"time"
)

// ErrGone says that no process with that pid is visible.
var ErrGone = errors.New("no such process")

// Process is one process at one moment.
type Process struct {
	PID, PPID int
	// UID is the real user, EUID the effective one. They differ in set-uid
	// programs, which any user can start: only a process with both at 0 was
	// really started by root.
	UID, EUID int
	// SID is the session, PGID the process group, Foreground the group its
	// terminal listens to (0 or -1 without a terminal).
	SID, PGID, Foreground int
	// Start is unique together with PID and only ever compared: clock ticks
	// since boot on Linux, microseconds since 1970 on macOS.
	Start uint64
	// StartTime is Start on the wall clock, for display. Two readings may differ by a few
	// milliseconds; compare Start instead.
	StartTime time.Time
	// Name is the process's name for itself. A process can choose it freely,
	// so it may accuse but never trust.
	Name string
	// TTY is the device path of the controlling terminal, "" when there is none.
	TTY string
}

// Table is a view of the processes of a machine.
type Table interface {
	// Lookup describes one process; ErrGone when it is not visible.
	Lookup(pid int) (Process, error)
	// Program is the path of the file the process runs. For other users' processes
	// it may be denied.
	Program(pid int) (string, error)
	// Args is the argument list as the process shows it now, best effort.
	Args(pid int) ([]string, error)
	// Environ is the environment the program was started with, best effort.
	Environ(pid int) ([]string, error)
}

// Cred is the other end of a Unix socket.
type Cred struct {
	// UID is the effective user at the time of connecting.
	UID int
	// PID is 0 if the peer is where this process can't see it.
	PID int
	// At is when the credentials were read, in the unit of Process.Start. A process with
	// this PID that started later isn't the peer. 0 means unknown.
	At uint64
}

// System returns the machine this program runs on.
func System() Table { return system{} }

type system struct{}

// Ancestry lists pid and its ancestors, itself first, at most limit long.
//
// It ends after pid 1, at a parent that isn't visible, at a repetition, and at a "parent"
// younger than its child, which is a reused pid. The last element's PPID therefore shows how
// the list ended: 0 at the edge of what exists here, anything else if the trail was lost.
func Ancestry(t Table, pid, limit int) []Process {
	var chain []Process
	for pid > 0 && len(chain) < limit {
		p, err := t.Lookup(pid)
		if err != nil {
			break
		}
		if n := len(chain); n > 0 && p.Start > chain[n-1].Start {
			break
		}
		if holds(chain, p.PID) {
			break
		}
		chain = append(chain, p)
		if p.PID == 1 {
			break
		}
		pid = p.PPID
	}
	return chain
}

func holds(chain []Process, pid int) bool {
	for _, p := range chain {
		if p.PID == pid {
			return true
		}
	}
	return false
}

// splitNUL cuts a NUL-separated list as the kernel keeps arguments and
// environments; padding at the end is dropped.
func splitNUL(b []byte) []string {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return nil
	}
	var out []string
	start := 0
	for i, c := range b {
		if c == 0 {
			out = append(out, string(b[start:i]))
			start = i + 1
		}
	}
	return append(out, string(b[start:]))
}
