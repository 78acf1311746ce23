package terminal

import (
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Marker marks agents and what runs below them, once per process.
type Marker struct {
	table proc.Table
	// Three calls of package proc, exchanged in tests.
	fileLocks func(pid int) (uint64, error)
	limit     func(pid int, limit uint64) error
	below     func(pid int) []int

	// noteAgent is called with the terminals of what is marked. It may be nil.
	noteAgent func(tty string)

	mu     sync.Mutex
	done   map[identity]bool
	looked bounded.Map[identity, time.Time]
}

// identity is a process: PID and start time, because PIDs are reused.
type identity struct {
	pid   int
	start uint64
}

// NewMarker marks processes of this machine.
func NewMarker(table proc.Table) *Marker {
	return &Marker{table: table, fileLocks: proc.FileLocks, limit: proc.LimitFileLocks, below: proc.Descendants,
		done: map[identity]bool{}}
}

// NoteTerminals has a source remember at which terminals agents run.
func (m *Marker) NoteTerminals(facts authority.Source) {
	if source, ok := facts.(*Source); ok {
		m.noteAgent = source.noteAgent
	}
}

// maxMarked bounds what is remembered; marking twice does no harm.
const maxMarked = 4096

// Mark marks the agent behind a hook call and everything below it. What it
// starts later inherits the mark. A nil marker marks nothing.
func (m *Marker) Mark(agent string, pid int, start uint64) {
	if m == nil || pid <= 1 {
		return
	}
	key := identity{pid, start}
	m.mu.Lock()
	known := m.done[key]
	if !known {
		if len(m.done) >= maxMarked {
			clear(m.done)
		}
		m.done[key] = true
	}
	m.mu.Unlock()
	if known {
		return
	}
	p, err := m.table.Lookup(pid)
	if err != nil || p.Start != start {
		return
	}
	mark := authority.MarkFor(agent, p.StartTime)
	m.setMark(pid, mark)
	m.noteTerminal(p)
	// A process that was just being started may have missed it: its parent has
	// the mark by now, so one more look is enough.
	for range 2 {
		for _, child := range m.below(pid) {
			m.setMark(child, mark)
			if p, err := m.table.Lookup(child); err == nil {
				m.noteTerminal(p)
			}
		}
	}
}

func (m *Marker) noteTerminal(p proc.Process) {
	if m.noteAgent != nil {
		m.noteAgent(p.TTY)
	}
}

// MarkUnknown marks what called a hook where that is a program in no catalogue.
func (m *Marker) MarkUnknown(rules *authority.Rules, chain []proc.Process) {
	if m.isMarked(chain) {
		return
	}
	caller, looked, ok := m.unknownCaller(rules, chain)
	if ok {
		m.Mark("", caller.PID, caller.Start)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range chain[:looked] {
		m.looked.Put(identity{p.PID, p.Start}, time.Now().Add(lookAgain), maxMarked)
	}
}

// lookAgain is for how long nothing is looked for above a process where nothing had to be
// marked: an agent's shells come and go, and what is above them is the same for every call.
// It may become another program.
const lookAgain = 2 * time.Second

func (m *Marker) wasLookedAt(p proc.Process) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	until, ok := m.looked.Get(identity{p.PID, p.Start})
	return ok && time.Now().Before(until)
}

// isMarked reports whether one of the first two processes of a chain was marked
// here: the program that called a hook, or the one above the shell it used.
func (m *Marker) isMarked(chain []proc.Process) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range chain[:min(len(chain), 2)] {
		if m.done[identity{p.PID, p.Start}] {
			return true
		}
	}
	return false
}

// setMark leaves a process that is marked already as it is: the outermost agent
// is the one to name.
func (m *Marker) setMark(pid int, mark uint64) {
	if now, err := m.fileLocks(pid); err != nil || now <= mark || authority.IsMark(now) {
		return
	}
	_ = m.limit(pid, mark) // it may just have ended, or be another user's
}

// CanMark reports whether a mark would be seen: not where every process is
// limited already.
func CanMark() bool {
	limit, err := proc.FileLocks(1)
	return err == nil && limit > authority.MarkFor("", time.Unix(1<<33-1, 0))|1<<56
}

// runsProgramOf reports whether a process runs the same program as another.
func (m *Marker) runsProgramOf(pid, other int) bool {
	program, err := m.table.Program(pid)
	same, errOther := m.table.Program(other)
	const replaced = " (deleted)" // by an upgrade, as Linux shows it
	program, same = strings.TrimSuffix(program, replaced), strings.TrimSuffix(same, replaced)
	return err == nil && errOther == nil && program != "" && program == same
}

// unknownCaller finds what to mark if a hook was called by a program that is in no
// catalogue: the first process above the hook that isn't a shell. chain runs from the hook's
// parent upwards; whose the processes are is looked up here. It returns false if you tried a
// hook in your own shell, and for terminals, which must never be marked. looked is how many
// processes of the chain it read.
func (m *Marker) unknownCaller(rules *authority.Rules, chain []proc.Process) (p proc.Process, looked int, ok bool) {
	table := m.table
	for i, seen := range chain {
		if m.wasLookedAt(seen) {
			return proc.Process{}, i, false
		}
		p, err := table.Lookup(seen.PID)
		switch {
		case err != nil || p.Start != seen.Start:
			return proc.Process{}, i, false
		case p.UID != rules.UID || p.EUID != rules.UID || p.PID == 1 || p.PID == rules.DaemonPID:
			return proc.Process{}, i + 1, false
		case p.SID == p.PID && p.TTY != "" && rules.RunsShell(table, p):
			return proc.Process{}, i + 1, false // somebody's own shell
		case rules.RunsShell(table, p) || m.runsProgramOf(p.PID, rules.DaemonPID):
			continue // hookmux's own commands try hooks, too
		}
		return p, i + 1, !rules.ServesTerminals(table, p)
	}
	return proc.Process{}, len(chain), false
}
