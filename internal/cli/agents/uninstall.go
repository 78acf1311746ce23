package agents

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// UninstallCommand is `hookmux uninstall`.
func UninstallCommand(app *cmdutil.App) *cobra.Command {
	var f InstallFlags
	cmd := &cobra.Command{
		Use:   "uninstall [AGENT…]",
		Short: "Remove hookmux's hooks from your agents",
		Long: `Removes exactly what install added, from all agents or the ones you name, in your
files and in every project. A file that nothing else changed gets its original
bytes back; from others only hookmux's entries are removed. They're recognized by
their command, even when the installation record is gone.

This removes protection, so it needs a trusted terminal (` + "`hookmux whoami`" + `) and
asks you to type a code.`,
		Example: "  hookmux uninstall\n  hookmux uninstall codex --dry-run",
		RunE:    func(cmd *cobra.Command, args []string) error { return uninstallHooks(cmd.Context(), app, &f, args) },
	}
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "show what would change without changing it")
	cmd.Flags().BoolVarP(&f.Yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVar(&f.full, "full", false, "show every line of the changes")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func uninstallHooks(ctx context.Context, app *cmdutil.App, f *InstallFlags, args []string) error {
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	agents, err := findAgents(app, c, args)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		agents = c.Agents()
	}
	if !f.DryRun && app.Table != nil {
		if _, _, err := evaluateCaller(ctx, app, c, wire.MethodUninstall, true); err != nil {
			return err
		}
	}
	if len(args) > 0 && !anyHooked(app, agents) {
		return cmdutil.FailWith(cmdutil.ExitFailed, strings.Join(args, ", ")+" isn't hooked; nothing to remove")
	}
	h, err := uninstallHost(app)
	if err != nil {
		return err
	}
	h.Known = c.Agents()
	plan, done, err := carryOut(app, h, func() (*install.Plan, error) { return h.Uninstall(agents) }, f,
		"Remove this?", func() error { return UserOnly(ctx, app, c, wire.MethodUninstall, true) })
	if err != nil || !done {
		return err
	}
	if f.asJSON {
		err = app.PrintJSON(map[string]any{"agents": emptyNotNil(plan.Agents), "notes": emptyNotNil(plan.Notes),
			"left": emptyNotNil(plan.Left), "files": plan.Files()})
	} else {
		sayTakenOut(app, h, plan)
		if len(args) == 0 {
			sayStillInFleet(ctx, app)
		}
	}
	err = errors.Join(err, dropStatusLines(app, h.Dirs.Home, agents), forgetInstallation(app, h), cleanEarlier(app, h.Dirs, true))
	if err == nil && len(plan.Left) > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return err
}

// anyHooked reports whether there's anything of hookmux's to remove from one of the agents.
func anyHooked(app *cmdutil.App, agents []*agent.Agent) bool {
	h, err := uninstallHost(app)
	if err != nil {
		return true // what is wrong comes out later
	}
	plan, err := h.Uninstall(agents)
	return err != nil || len(plan.Agents) > 0 || len(plan.Left) > 0
}

func sayTakenOut(app *cmdutil.App, h *install.Host, plan *install.Plan) {
	if len(plan.Agents) == 0 && len(plan.Left) == 0 {
		app.Say("hookmux isn't installed; nothing to remove")
	}
	for _, a := range plan.Agents {
		path := termsafe.Text(paths.Shorten(h.Dirs.Home, a.Path))
		if a.Changed {
			app.Say("%s: removed from %s", a.Name, path)
		} else {
			app.Say("%s: nothing of hookmux was left in %s; its record is removed", a.Name, path)
		}
	}
	for _, path := range plan.Left {
		app.Say("%s still contains hookmux's hooks", termsafe.Text(paths.Shorten(h.Dirs.Home, path)))
	}
	for _, path := range otherFiles(plan) {
		app.Say("trust in its hooks: removed from %s", termsafe.Text(paths.Shorten(h.Dirs.Home, path)))
	}
	if len(plan.Agents) > 0 {
		app.Say("next: `hookmux daemon stop` stops the daemon, `hookmux tmux uninstall` removes hookmux from tmux")
	}
}

// sayStillInFleet says how to leave the fleet that this machine is in.
func sayStillInFleet(ctx context.Context, app *cmdutil.App) {
	c, err := app.RunningDaemon()
	if err != nil {
		return
	}
	var in wire.FleetStatus
	switch err := c.Call(ctx, wire.MethodFleetStatus, nil, &in); {
	case err != nil:
	case in.Serves:
		app.Say("this machine still serves a fleet: before you stop the daemon, `hookmux fleet leave --delete-fleet` ends it for " +
			"every machine")
	case in.Joined:
		app.Say("this machine is still in a fleet: before you stop the daemon, `hookmux fleet leave` takes it out")
	}
}

// otherFiles returns those in which agents trusted the hooks that are taken out.
func otherFiles(plan *install.Plan) []string {
	var files []string
	for _, s := range plan.Steps {
		named := slices.ContainsFunc(plan.Agents, func(a install.AgentPlan) bool { return a.Path == s.Path })
		if s.Op == install.OpTrust && !named && !slices.Contains(files, s.Path) {
			files = append(files, s.Path)
		}
	}
	return files
}

// uninstallHost does without hookmux-hook: it may be gone already.
func uninstallHost(app *cmdutil.App) (*install.Host, error) {
	if h, err := InstallHost(app); err == nil {
		return h, nil
	}
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	return &install.Host{Dirs: dirs, Project: ProjectFolder(app.Cwd()), Getenv: app.Getenv}, nil
}
