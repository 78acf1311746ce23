package agents

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// ownProcess is a process of this user.
type ownProcess struct {
	pid, parent int
	program     string
	args        []string
}

// openSessions returns the processes of an agent that this user has open now.
func openSessions(a *agent.Agent) []int {
	table := proc.System()
	var list []ownProcess
	for _, pid := range proc.List() {
		p, err := table.Lookup(pid)
		if err != nil || p.UID != os.Getuid() {
			continue
		}
		program, _ := table.Program(pid) // others' cannot be read, and are not meant
		args, _ := table.Args(pid)
		list = append(list, ownProcess{pid, p.PPID, program, args})
	}
	return sessionsAmong(a, list)
}

// sessionsAmong returns the processes that run a session of an agent: the outermost ones,
// because agents start themselves again for parts of their work, without daemons or updaters.
func sessionsAmong(a *agent.Agent, list []ownProcess) []int {
	is := map[int]bool{}
	for _, p := range list {
		paths := []string{p.program}
		if len(p.args) > 1 {
			paths = append(paths, p.args[1]) // the script of an interpreter
		}
		is[p.pid] = a.Marks.MatchProgram(filepath.Base(p.program), paths...)
	}
	var out []int
	for _, p := range list {
		if is[p.pid] && !is[p.parent] && (len(p.args) == 0 || launch.RunsSession(a, p.args[1:])) {
			out = append(out, p.pid)
		}
	}
	slices.Sort(out)
	return out
}
