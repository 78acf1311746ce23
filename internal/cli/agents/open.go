package agents

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// openSessions are the processes of an agent that this person has open now: the
// outermost ones, because agents start themselves again for parts of their work.
func openSessions(a *agent.Agent) []int {
	table := proc.System()
	is := map[int]bool{}
	up := map[int]int{}
	for _, pid := range proc.List() {
		p, err := table.Lookup(pid)
		if err != nil || p.UID != os.Getuid() {
			continue
		}
		up[pid] = p.PPID
		program, _ := table.Program(pid) // others' cannot be read, and are not meant
		args, _ := table.Args(pid)
		paths := []string{program}
		if len(args) > 1 {
			paths = append(paths, args[1]) // the script of an interpreter
		}
		is[pid] = a.Marks.MatchProgram(filepath.Base(program), paths...)
	}
	var out []int
	for pid, yes := range is {
		if yes && !is[up[pid]] {
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out
}
