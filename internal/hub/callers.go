package hub

import (
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/seat"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

var ownUID = os.Getuid()

// selfUID is who we are; that does not change.
func selfUID() int  { return ownUID }
func stack() string { return string(debug.Stack()) }

// caller is who really called a hook, as its process tells.
type caller struct {
	agent  string
	pid    int
	start  uint64
	tty    string
	nested bool // it runs below a handler that this hub started
}

// callers remembers for a moment who stands behind a process: a plugin that
// reports many events is looked up once. A process id is not given to another
// process that soon.
type callers struct {
	judge  *authority.Judge
	marker *seat.Marker // nil: nobody is marked
	mu     sync.Mutex
	known  map[int]knownCaller
	swept  time.Time
	// below remembers of an agent's process whether it runs below one of our
	// handlers: its ancestry is long and does not change.
	below map[processKey]bool
}

type processKey struct {
	pid   int
	start uint64
}

// keepBelow bounds what is remembered of agents' processes.
const keepBelow = 1024

type knownCaller struct {
	caller
	until time.Time
}

const callerLasts = 2 * time.Second

func newCallers(judge *authority.Judge) *callers {
	own := *judge
	own.Table = newMemoTable(judge.Table)
	return &callers{judge: &own, known: map[int]knownCaller{}, below: map[processKey]bool{}}
}

func (c *callers) of(pid int) caller {
	if pid <= 0 {
		return caller{}
	}
	now := time.Now()
	c.mu.Lock()
	k, ok := c.known[pid]
	c.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.caller
	}
	found := c.caller(pid)
	who := caller{agent: found.Agent, pid: found.PID, start: found.Start, tty: found.TTY}
	chain := found.Chain
	if n := len(chain); n > 0 && found.Agent == "" && chain[n-1].PID != 1 {
		// Further up than an agent is looked for: hooks that call hooks make
		// long chains.
		chain = append(chain, proc.Ancestry(c.judge.Table, chain[n-1].PPID, deepest)...)
	}
	who.nested = len(chain) >= deepest || c.passesHub(chain)
	if found.Agent != "" && !who.nested {
		// The agent may itself be a child of one of our handlers.
		key := processKey{found.PID, found.Start}
		c.mu.Lock()
		nested, ok := c.below[key]
		c.mu.Unlock()
		if !ok {
			nested = c.passesHub(proc.Ancestry(c.judge.Table, found.PID, 64))
			c.mu.Lock()
			if len(c.below) > keepBelow {
				clear(c.below)
			}
			c.below[key] = nested
			c.mu.Unlock()
		}
		who.nested = nested
	}
	c.mu.Lock()
	if now.Sub(c.swept) > callerLasts {
		for pid, k := range c.known {
			if now.After(k.until) {
				delete(c.known, pid)
			}
		}
		c.swept = now
	}
	c.known[pid] = knownCaller{who, now.Add(callerLasts)}
	c.mu.Unlock()
	return who
}

// deepest is more processes than ever stand above a hook that is not called
// in a circle.
const deepest = 128

// hookName is what our own client is called as a process: nobody's agent.
const hookName = "hookmux-hook"

// caller looks from the client's parent on, where the client is ours: that is
// one process less to read about, on every call.
func (c *callers) caller(pid int) authority.Caller {
	if p, err := c.judge.Table.Lookup(pid); err == nil && p.Name == hookName && p.PPID > 0 {
		found := c.judge.Caller(p.PPID, "")
		if n := len(found.Chain); n == 0 || found.Chain[0].Start <= p.Start {
			c.markCaller(&found, true)
			return found
		}
	}
	found := c.judge.Caller(pid, "")
	c.markCaller(&found, false)
	return found
}

func (c *callers) passesHub(chain []proc.Process) bool {
	for _, p := range chain {
		if p.PID == c.judge.HubPID {
			return true
		}
	}
	return false
}

// ForgetProcesses drops what was remembered of the process table: for a
// program that exchanges it.
func (h *Hub) ForgetProcesses() {
	h.callers.forget()
}

func (c *callers) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
	clear(c.below)
	if m, ok := c.judge.Table.(*memoTable); ok {
		m.forget()
	}
}
