package hub

import (
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/proc"
)

func selfUID() int  { return os.Getuid() }
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
	judge *authority.Judge
	mu    sync.Mutex
	known map[int]knownCaller
	swept time.Time
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
	return &callers{judge: judge, known: map[int]knownCaller{}, below: map[processKey]bool{}}
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
	found := c.judge.Caller(pid, "")
	who := caller{agent: found.Agent, pid: found.PID, start: found.Start, tty: found.TTY}
	who.nested = c.passesHub(found.Chain)
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

func (c *callers) passesHub(chain []proc.Process) bool {
	for _, p := range chain {
		if p.PID == c.judge.HubPID {
			return true
		}
	}
	return false
}

// newJudge gives the rules of authority what they need to know.
func (h *Hub) newJudge() *authority.Judge {
	return NewJudge(h.catalogue, h.table, os.Getpid())
}
