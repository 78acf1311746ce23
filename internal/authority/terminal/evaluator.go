package terminal

import (
	"os"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// NewEvaluator makes the rules of authority for a catalogue's agents. facts are
// read from this machine when nil is given.
func NewEvaluator(catalogue *agent.Catalogue, table proc.Table, facts authority.Source, daemonPID int) *authority.Evaluator {
	if facts == nil {
		facts = NewSource(table, os.Getuid())
	}
	j := &authority.Evaluator{Table: table, Source: facts, Rules: authority.Rules{UID: os.Getuid(), DaemonPID: daemonPID}}
	if evaluated, ok := facts.(programEvaluator); ok {
		j.Sound, j.Hookmux = evaluated.Sound, evaluated.Hookmux
	}
	for _, known := range catalogue.AllMarks() {
		j.Agents = append(j.Agents, authority.Marks{
			Agent: known.Name, Programs: known.Programs, Paths: known.Paths, Env: known.Environment,
		})
	}
	return j
}

// programEvaluator is a source that also knows which programs are what they seem:
// those of a made-up machine have no files.
type programEvaluator interface {
	Sound(daemonUID int, p proc.Process, program string) bool
	Hookmux(p proc.Process, program string) bool
}
