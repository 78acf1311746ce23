// Package callers finds the agent behind a process that called a hook.
package callers

import (
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Caller is the process that really called a hook.
type Caller struct {
	Agent string // "" for none
	PID   int    // of the agent
	Start uint64
	TTY   string
	// Holder is the first process of the terminal, where no agent is found.
	Holder      int
	HolderStart uint64
	// Starter is the process that started our client if no agent is found: an editor, whose
	// own process shows nothing.
	Starter      int
	StarterStart uint64

	Nested bool // it runs below a handler that this daemon started
}

// Callers remembers for a moment which agent is behind a process: a plugin that reports many
// events is looked up once. A process id isn't reused that soon.
type Callers struct {
	evaluator *authority.Evaluator
	marker    *terminal.Marker // nil: nobody is marked
	mu        sync.Mutex
	known     map[int]knownCaller
	swept     time.Time
	// below remembers of an agent's process whether it runs below one of our
	// handlers: its ancestry is long and does not change.
	below bounded.Map[processKey, bool]
}

type processKey struct {
	pid   int
	start uint64
}

// keepBelow bounds what is remembered of agents' processes.
const keepBelow = 1024

type knownCaller struct {
	Caller
	until time.Time
}

const callerLasts = 2 * time.Second

// New returns Callers that apply evaluator's rules.
func New(evaluator *authority.Evaluator) *Callers {
	own := *evaluator
	own.Table = newMemoryTable(evaluator.Table)
	own.RememberMatches()
	return &Callers{evaluator: &own, known: map[int]knownCaller{}}
}

// Of returns the agent behind a process.
func (c *Callers) Of(pid int) Caller {
	now := time.Now()
	c.mu.Lock()
	k, ok := c.known[pid]
	c.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.Caller
	}
	who := c.lookUp(pid, c.marker)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.swept) > callerLasts {
		for pid, k := range c.known {
			if now.After(k.until) {
				delete(c.known, pid)
			}
		}
		c.swept = now
	}
	c.known[pid] = knownCaller{who, now.Add(callerLasts)}
	return who
}

// OfProbe is Of for a hook that hookmux's own commands try out. It marks nothing: a command
// that runs from another place than the daemon would be taken for an agent. The result isn't
// remembered, so that it spares no process the mark at another event.
func (c *Callers) OfProbe(pid int) Caller { return c.lookUp(pid, nil) }

// lookUp finds the agent behind a process, and has it marked.
func (c *Callers) lookUp(pid int, marker *terminal.Marker) Caller {
	if pid <= 0 {
		return Caller{}
	}
	found := c.findAgent(pid, marker)
	who := Caller{Agent: found.Agent, PID: found.PID, Start: found.Start, TTY: found.TTY}
	chain := found.Chain
	if n := len(chain); n > 0 && found.Agent == "" && chain[n-1].PID != 1 {
		// Further up than an agent is looked for: hooks that call hooks make
		// long chains.
		chain = append(chain, proc.Ancestry(c.evaluator.Table, chain[n-1].PPID, Deepest)...)
	}
	who.Nested = len(chain) >= Deepest || c.passesDaemon(chain)
	if found.Agent != "" && !who.Nested {
		// The agent may itself be a child of one of our handlers.
		key := processKey{found.PID, found.Start}
		c.mu.Lock()
		nested, ok := c.below.Get(key)
		c.mu.Unlock()
		if !ok {
			nested = c.passesDaemon(proc.Ancestry(c.evaluator.Table, found.PID, 64))
			c.mu.Lock()
			c.below.Put(key, nested, keepBelow)
			c.mu.Unlock()
		}
		who.Nested = nested
	}
	if found.Agent == "" && !who.Nested {
		c.findHolder(&who, found.Chain)
		if chain := found.Chain; len(chain) > 0 && chain[0].PID != pid {
			who.Starter, who.StarterStart = chain[0].PID, chain[0].Start
		}
	}
	return who
}

// findHolder finds the first process of the terminal from which something was
// called: the shell in a pane, mostly.
func (c *Callers) findHolder(who *Caller, chain []proc.Process) {
	if len(chain) == 0 || chain[0].TTY == "" || chain[0].SID <= 0 || chain[0].SID == chain[0].PID {
		return
	}
	first, err := c.evaluator.Table.Lookup(chain[0].SID)
	if err == nil && first.TTY == chain[0].TTY && first.Start <= chain[0].Start {
		who.Holder, who.HolderStart, who.TTY = first.PID, first.Start, first.TTY
	}
}

// Deepest is more processes than are ever above a hook that isn't called in a circle.
const Deepest = 128

// hookName is the process name of our own client, which is never an agent.
const hookName = "hookmux-hook"

// findAgent looks from the client's parent on, where the client is ours: that is
// one process less to read about, on every call.
func (c *Callers) findAgent(pid int, marker *terminal.Marker) authority.Caller {
	if p, err := c.evaluator.Table.Lookup(pid); err == nil && p.Name == hookName && p.PPID > 0 {
		found := c.evaluator.Caller(p.PPID, "")
		if n := len(found.Chain); n == 0 || found.Chain[0].Start <= p.Start {
			c.markCaller(marker, &found, true)
			return found
		}
	}
	found := c.evaluator.Caller(pid, "")
	c.markCaller(marker, &found, false)
	return found
}

func (c *Callers) passesDaemon(chain []proc.Process) bool {
	for _, p := range chain {
		if p.PID == c.evaluator.DaemonPID {
			return true
		}
	}
	return false
}

// Forget drops what was remembered of the process table.
func (c *Callers) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
	c.below.Clear()
	if m, ok := c.evaluator.Table.(*memoryTable); ok {
		m.forgetAll()
	}
}

// SetMarker marks agents at their first hook. It is called before the first
// event.
func (c *Callers) SetMarker(m *terminal.Marker) { c.marker = m }

// markCaller marks the agent behind a hook call, before the call is answered. viaHook says
// that our own client called: then even an unknown program is marked.
func (c *Callers) markCaller(marker *terminal.Marker, found *authority.Caller, viaHook bool) {
	if marker == nil {
		return
	}
	if found.Agent != "" {
		marker.Mark(found.Agent, found.PID, found.Start)
		return
	}
	if viaHook {
		marker.MarkUnknown(&c.evaluator.Rules, found.Chain)
	}
}

// Above returns a process and those above it, from below.
func (c *Callers) Above(pid int) []proc.Process {
	return proc.Ancestry(c.evaluator.Table, pid, Deepest)
}

// OfProxy returns the caller for a process that relays between an agent and another program:
// the process itself, as that agent. The agent runs below it, so everything below it is
// marked as the agent's.
func (c *Callers) OfProxy(pid int, agent string) Caller {
	who := Caller{Agent: agent, Nested: c.Of(pid).Nested}
	p, err := c.evaluator.Table.Lookup(pid)
	if err != nil {
		return who
	}
	who.PID, who.Start, who.TTY = p.PID, p.Start, p.TTY
	if c.marker != nil {
		c.marker.Mark(agent, p.PID, p.Start)
	}
	return who
}
