package install

import (
	"context"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/install/probe"
	"github.com/hookmux/hookmux/internal/install/shimlink"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Shim is the path that stands in agents' configs.
func Shim(d paths.Dirs) string { return shimlink.Path(d) }

// TryHooks runs each agent's installed hook command and sees whether it arrives
// at the daemon.
func (h *Host) TryHooks(ctx context.Context, daemon *client.Client, agents []*agent.Agent, env []string) []probe.Result {
	return probe.Run(ctx, daemon, agents, probe.Hook{Program: Shim(h.Dirs), Home: h.Dirs.Home, Env: env})
}
