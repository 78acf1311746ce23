package terminal

import (
	"os"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// NewJudge makes the rules of authority for a catalogue's agents. facts are
// read from this machine when nil is given.
func NewJudge(catalogue *agent.Catalogue, table proc.Table, facts authority.Source, daemonPID int) *authority.Judge {
	if facts == nil {
		facts = NewSource(table, os.Getuid())
	}
	j := &authority.Judge{Table: table, Source: facts, Rules: authority.Rules{UID: os.Getuid(), DaemonPID: daemonPID}}
	if judged, ok := facts.(programJudge); ok {
		j.Sound, j.Hookmux = judged.Sound, judged.Hookmux
	}
	for _, known := range catalogue.AllMarks() {
		j.Agents = append(j.Agents, authority.Marks{
			Agent: known.Name, Programs: known.Programs, Paths: known.Paths, Env: known.Environment,
		})
	}
	return j
}

// programJudge is a source that also knows which programs are what they seem:
// those of a made-up machine have no files.
type programJudge interface {
	Sound(daemonUID int, p proc.Process, program string) bool
	Hookmux(p proc.Process, program string) bool
}
