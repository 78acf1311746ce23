package callers

import (
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// memoryTable remembers for a moment what was read about processes that are not
// brand new: the shell and the agent above a hook are the same for every call,
// and reading about them costs more than answering. It serves the question who
// called; authority always reads afresh.
type memoryTable struct {
	proc.Table
	mu    sync.Mutex
	known bounded.Map[int, knownProcess]
}

type knownProcess struct {
	process  proc.Process
	program  string
	programs bool
	until    time.Time
}

const (
	knownLasts = 2 * time.Second
	// stableAge: a younger process may still become another program.
	stableAge = time.Second
	keepKnown = 1024
)

func newMemoryTable(t proc.Table) *memoryTable {
	return &memoryTable{Table: t}
}

func (m *memoryTable) Lookup(pid int) (proc.Process, error) {
	now := time.Now()
	m.mu.Lock()
	e, ok := m.known.Get(pid)
	m.mu.Unlock()
	if ok && now.Before(e.until) {
		return e.process, nil
	}
	p, err := m.readBriefly(pid)
	if err == nil && !p.StartTime.IsZero() && now.Sub(p.StartTime) > stableAge {
		m.keep(pid, knownProcess{process: p, until: now.Add(knownLasts)})
	}
	return p, err
}

// readBriefly reads no more than is needed to identify the caller.
func (m *memoryTable) readBriefly(pid int) (proc.Process, error) {
	if t, ok := m.Table.(interface {
		LookupWithoutOwner(pid int) (proc.Process, error)
	}); ok {
		return t.LookupWithoutOwner(pid)
	}
	return m.Table.Lookup(pid)
}

func (m *memoryTable) Program(pid int) (string, error) {
	m.mu.Lock()
	e, ok := m.known.Get(pid)
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

func (m *memoryTable) keep(pid int, e knownProcess) {
	m.mu.Lock()
	m.known.Put(pid, e, keepKnown)
	m.mu.Unlock()
}

func (m *memoryTable) forgetAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known.Clear()
}
