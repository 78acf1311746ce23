package install

import (
	"context"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Shim returns the path that is in agents' configs.
func Shim(d paths.Dirs) string { return ShimPath(d) }

// TryHooks runs each agent's installed hook command and sees whether it arrives
// at the daemon.
func (h *Host) TryHooks(ctx context.Context, daemon *client.Client, agents []*agent.Agent, env []string) []ProbeResult {
	return Probe(ctx, daemon, agents, ProbeHook{Program: Shim(h.Dirs), Home: h.Dirs.Home, Env: env})
}
