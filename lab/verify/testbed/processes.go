package testbed

import (
	"sync"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// remembering is a table that never sees a process end.
type remembering struct {
	proc.Table
	mu    sync.Mutex
	known map[int]proc.Process
}

func (t *remembering) Lookup(pid int) (proc.Process, error) {
	p, err := t.Table.Lookup(pid)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.known[pid] = p
		return p, nil
	}
	if old, ok := t.known[pid]; ok {
		return old, nil
	}
	return p, err
}

// outside shows the processes of the machine, but for this one: the daemon of a
// test bed lives in the process that also starts the agents, and would take them
// for children of one of its hooks.
type outside struct {
	proc.Table
	self int
}

func (t outside) Lookup(pid int) (proc.Process, error) {
	if pid == t.self {
		return proc.Process{}, proc.ErrGone
	}
	return t.Table.Lookup(pid)
}
