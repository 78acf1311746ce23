package hub

import (
	"os"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// NewJudge makes the rules of authority for a catalogue's agents.
func NewJudge(catalogue *agent.Catalogue, table proc.Table, hubPID int) *authority.Judge {
	j := &authority.Judge{Table: table, UID: os.Getuid(), HubPID: hubPID}
	for _, a := range catalogue.Agents() {
		j.Agents = append(j.Agents, authority.Marks{
			Agent: a.Name, Programs: a.Marks.Programs, Paths: a.Marks.Paths, Env: a.Marks.Environment,
		})
	}
	return j
}
