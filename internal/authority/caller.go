package authority

import (
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// maxCaller bounds the walk for a hook call, which is on the path of every
// event. A hook runs a handful of processes below its agent.
const maxCaller = 32

// Caller is the agent that a hook call really came from.
type Caller struct {
	// Agent is a catalogue name, "" when no agent is above the hook.
	Agent string
	// PID and Start identify the agent's process.
	PID   int
	Start uint64
	Began time.Time
	// TTY is where the agent runs, "" when it has no terminal.
	TTY string
	// Chain runs from the hook up to the agent, or as far as was looked.
	Chain []proc.Process
}

// Caller finds the nearest agent above a process. named is the agent the hook claims; it
// only decides between marks of several that fit one process. It must be the nearest,
// because environments and ancestors are inherited when one agent starts another.
func (j *Evaluator) Caller(pid int, named string) Caller {
	var chain []proc.Process
	for step := 0; step < maxCaller && pid > 0; step++ {
		p, err := j.Table.Lookup(pid)
		if err != nil || len(chain) > 0 && p.Start > chain[len(chain)-1].Start {
			break
		}
		chain = append(chain, p)
		if agent := j.matchAgent(p, named); agent != "" {
			return Caller{Agent: agent, PID: p.PID, Start: p.Start, Began: p.StartTime, TTY: p.TTY, Chain: chain}
		}
		if p.PID == 1 || p.PPID == p.PID {
			break
		}
		pid = p.PPID
	}
	return Caller{Chain: chain}
}

// matchAgent names the agent that a process is, "" for none.
func (j *Evaluator) matchAgent(p proc.Process, named string) string {
	if j.matches == nil || named != "" {
		return j.Agents.match(j.Table, p, named)
	}
	program, _ := j.Table.Program(p.PID)
	key := matchKey{p.Name, program}
	if agent, ok := j.matches.findMatch(key); ok {
		return agent
	}
	asked := false
	agent := j.Agents.matchProgram(p.Name, program, func() []string {
		asked = true
		args, _ := j.Table.Args(p.PID)
		return args
	}, "")
	if !asked {
		j.matches.putMatch(key, agent)
	}
	return agent
}

// RememberMatches makes Caller remember which agent bears a name and a program.
// Nothing that is remembered can become untrue: only what name and program alone
// decide is kept.
func (j *Evaluator) RememberMatches() { j.matches = &rememberedMatches{} }

// rememberedMatches saves comparing every process above a hook with the marks of
// every agent, at every call.
type rememberedMatches struct {
	mu    sync.Mutex
	known bounded.Map[matchKey, string]
}

type matchKey struct{ name, program string }

// keepMatches bounds what is remembered.
const keepMatches = 512

func (m *rememberedMatches) findMatch(key matchKey) (agent string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known.Get(key)
}

func (m *rememberedMatches) putMatch(key matchKey, agent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known.Put(key, agent, keepMatches)
}
