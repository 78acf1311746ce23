package hub

import (
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// memoTable remembers for a moment what was read about processes that are not
// brand new: the shell and the agent above a hook are the same for every call,
// and reading about them costs more than answering. It serves the question who
// called; authority always reads afresh.
type memoTable struct {
	proc.Table
	mu    sync.Mutex
	known map[int]memoEntry
}

type memoEntry struct {
	process  proc.Process
	program  string
	programs bool
	until    time.Time
}

const (
	memoLasts = 2 * time.Second
	// memoAge: a younger process may still become another program.
	memoAge  = time.Second
	keepMemo = 1024
)

func newMemoTable(t proc.Table) *memoTable { return &memoTable{Table: t, known: map[int]memoEntry{}} }

func (m *memoTable) Lookup(pid int) (proc.Process, error) {
	now := time.Now()
	m.mu.Lock()
	e, ok := m.known[pid]
	m.mu.Unlock()
	if ok && now.Before(e.until) {
		return e.process, nil
	}
	p, err := m.glance(pid)
	if err == nil && !p.StartTime.IsZero() && now.Sub(p.StartTime) > memoAge {
		m.keep(pid, memoEntry{process: p, until: now.Add(memoLasts)})
	}
	return p, err
}

// glance reads no more than is needed to tell who called.
func (m *memoTable) glance(pid int) (proc.Process, error) {
	if t, ok := m.Table.(interface {
		Glance(pid int) (proc.Process, error)
	}); ok {
		return t.Glance(pid)
	}
	return m.Table.Lookup(pid)
}

func (m *memoTable) Program(pid int) (string, error) {
	m.mu.Lock()
	e, ok := m.known[pid]
	m.mu.Unlock()
	if ok && e.programs && time.Now().Before(e.until) {
		return e.program, nil
	}
	program, err := m.Table.Program(pid)
	if err == nil && ok {
		e.program, e.programs = program, true
		m.keep(pid, e)
	}
	return program, err
}

func (m *memoTable) keep(pid int, e memoEntry) {
	m.mu.Lock()
	if len(m.known) >= keepMemo {
		clear(m.known)
	}
	m.known[pid] = e
	m.mu.Unlock()
}

func (m *memoTable) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.known)
}
