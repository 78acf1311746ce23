package install

import (
	"context"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
)

// checkPlaces reports sessions whose terminal can't be known: their agent runs them in a
// process that all terminals share.
func (d *Doctor) checkPlaces(ctx context.Context, agents []*agent.Agent) {
	for _, a := range agents {
		list, err := d.Daemon.Sessions(ctx, client.SessionsParams{Agents: []string{a.Name}})
		if err != nil {
			return // an older daemon; it is named above
		}
		n := 0
		for _, s := range list {
			if s.Pane == "unknown" && s.Ended == nil {
				n++
			}
		}
		if n == 1 {
			d.addFinding(a.Name, "place", Note, "hookmux run "+a.Name,
				"a session runs under its shared daemon, so hookmux can't tell in which terminal")
		} else if n > 1 {
			d.addFinding(a.Name, "place", Note, "hookmux run "+a.Name,
				"%d sessions run under its shared daemon, so hookmux can't tell in which terminals", n)
		}
	}
}
