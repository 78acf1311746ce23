// Package proctest builds process tables out of small tree literals, so that
// rules about processes can be tested without starting any.
package proctest

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Root as a Node's User makes the process root's; 0 means "as the parent".
const Root = -1

// None as a Node's TTY detaches it; "" means "as the parent".
const None = "-"

// Hidden as a Node's Program makes the path unreadable, as other users' are.
const Hidden = "?"

// Node is one process and what it started. What is left out comes from the
// parent: user, terminal, session and process group; it starts a little later.
type Node struct {
	PID  int
	Name string
	// Program defaults to /usr/bin/Name, and for root's processes to Hidden.
	Program string
	// Args default to the name alone.
	Args []string
	Env  []string
	User int
	// Effective is the effective user if it differs from User.
	Effective int
	TTY       string
	// Session starts a new session and group; Group a new group only.
	Session, Group bool
	// Start replaces the counted start time, to play a reused pid.
	Start uint64
	// Parent replaces the parent's pid: 0 keeps it, -1 means outside (0).
	Parent int
	// Foreground is the group the terminal listens to; inherited.
	Foreground int
	Below      []Node
}

// Table is a proc.Table over fixed processes.
type Table struct {
	rows   map[int]row
	looked atomic.Int64
}

type row struct {
	p       proc.Process
	program string
	args    []string
	env     []string
}

// New builds a table from trees; the roots' parent is 0.
func New(trees ...Node) *Table {
	t := &Table{rows: map[int]row{}}
	clock := uint64(1000)
	for _, n := range trees {
		t.add(n, proc.Process{}, &clock)
	}
	return t
}

func (t *Table) add(n Node, parent proc.Process, clock *uint64) {
	*clock += 10
	p := parent
	p.PID, p.PPID, p.Name, p.Start = n.PID, parent.PID, n.Name, *clock
	switch {
	case n.Parent > 0:
		p.PPID = n.Parent
	case n.Parent < 0:
		p.PPID = 0
	}
	if n.Start != 0 {
		p.Start = n.Start
	}
	if n.User != 0 {
		p.UID = max(n.User, 0)
	}
	p.EUID = p.UID
	if n.Effective != 0 {
		p.EUID = max(n.Effective, 0)
	}
	switch n.TTY {
	case "":
	case None:
		p.TTY, p.Foreground = "", 0
	default:
		p.TTY, p.Foreground = n.TTY, 0
	}
	if n.Session {
		p.SID, p.PGID = n.PID, n.PID
	}
	if n.Group {
		p.PGID = n.PID
	}
	if n.Foreground != 0 {
		p.Foreground = n.Foreground
	}
	p.StartTime = time.Unix(int64(p.Start), 0)

	r := row{p: p, program: n.Program, args: n.Args, env: n.Env}
	if r.program == "" {
		r.program = "/usr/bin/" + n.Name
		if p.UID == 0 {
			r.program = Hidden
		}
	}
	if r.args == nil {
		r.args = []string{n.Name}
	}
	t.rows[n.PID] = r
	for _, child := range n.Below {
		t.add(child, p, clock)
	}
}

// Readable makes every hidden program readable as /usr/bin/NAME, as it is for
// a daemon that runs as root.
func (t *Table) Readable() *Table {
	for pid, r := range t.rows {
		if r.program == Hidden {
			name, _, _ := strings.Cut(r.p.Name, ":")
			r.program = "/usr/bin/" + name
			t.rows[pid] = r
		}
	}
	return t
}

// Cred returns what the kernel would say about a connection from pid.
func (t *Table) Cred(pid int) proc.Cred {
	return proc.Cred{UID: t.rows[pid].p.EUID, PID: pid}
}

// Looked returns the number of Lookup calls, for tests of bounds.
func (t *Table) Looked() int { return int(t.looked.Load()) }

func (t *Table) Lookup(pid int) (proc.Process, error) {
	t.looked.Add(1)
	r, ok := t.rows[pid]
	if !ok {
		return proc.Process{}, proc.ErrGone
	}
	return r.p, nil
}

func (t *Table) Program(pid int) (string, error) {
	r, ok := t.rows[pid]
	if !ok {
		return "", proc.ErrGone
	}
	if r.program == Hidden {
		return "", errors.New("permission denied")
	}
	return r.program, nil
}

func (t *Table) Args(pid int) ([]string, error) {
	r, ok := t.rows[pid]
	if !ok {
		return nil, proc.ErrGone
	}
	return r.args, nil
}

func (t *Table) Environ(pid int) ([]string, error) {
	r, ok := t.rows[pid]
	if !ok {
		return nil, proc.ErrGone
	}
	return r.env, nil
}
