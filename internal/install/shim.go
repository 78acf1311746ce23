package install

import (
	"context"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/install/probe"
	"github.com/hookmux/hookmux/internal/install/steps"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Shim is the path that stands in agents' configs: always the same, whatever
// version of hookmux is installed where, because agents and people pin their
// trust to it. It is a link to the hookmux-hook of today.
func Shim(d paths.Dirs) string { return filepath.Join(d.Data, "bin", hookentry.HookName) }

// StableHook prefers the name under which hookmux-hook stands on PATH to where
// that leads: package managers keep the first and move the second.
func StableHook(hook, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file := filepath.Join(dir, hookentry.HookName); paths.SameFile(file, hook) {
			return file
		}
	}
	return hook
}

// Refresh points the shim at this hookmux-hook again after an upgrade moved
// it. It never makes one that is not there; a hookmux that is not the one on
// PATH only mends a shim that leads nowhere.
func Refresh(d paths.Dirs, hook string, onPath bool) error {
	shim := Shim(d)
	to, err := os.Readlink(shim)
	if err != nil || to == hook {
		return nil
	}
	if !onPath && paths.Runnable(shim) {
		return nil
	}
	return steps.ReplaceLink(shim, hook)
}

// TryHooks runs each agent's installed hook command and sees whether it arrives
// at the hub.
func (h *Host) TryHooks(ctx context.Context, hub *client.Client, agents []*agent.Agent, env []string) []probe.Result {
	return probe.Run(ctx, hub, agents, probe.Hook{Program: Shim(h.Dirs), Home: h.Dirs.Home, Env: env})
}
