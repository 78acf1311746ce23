package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// InstallFlags are those of install and uninstall.
type InstallFlags struct {
	DryRun, Yes, project, asJSON, noTrust bool
	full                                  bool
	events                                []string
	onUnavailable                         string // empty: as before, or neutral
}

// InstallCommand is `hookmux install`.
func InstallCommand(app *cmdutil.App) *cobra.Command {
	var f InstallFlags
	cmd := &cobra.Command{
		Use:   "install [AGENT…]",
		Short: "Install hooks for your agents",
		Long: `Finds the agents on this machine, shows what would change in their config files
(--full shows every line), asks once, writes, and tests each hook. Comments,
order and everything else in your files stay as they are; ` + "`hookmux uninstall`" + `
restores them byte for byte. If a file can't be read, nothing is written at all.

Each agent gets the events worth having; --events picks others, by kind or by the
agent's own name. What you choose with --events and --on-unavailable is kept by
later installs until you change it (--events default, --on-unavailable neutral).`,
		Example: `  hookmux install                          # every agent on this machine
  hookmux install claude codex --dry-run   # only show the changes
  hookmux install --project claude         # for this project only
  hookmux install --on-unavailable deny    # block calls if the daemon is gone`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return installHooks(cmd.Context(), app, &f, args)
		},
	}
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "show what would change without changing it")
	cmd.Flags().BoolVarP(&f.Yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVar(&f.project, "project", false, "install for this project only")
	cmd.Flags().StringSliceVar(&f.events, "events", nil,
		"only these events, e.g. tool.before,turn.end; default: the usual ones")
	cmd.Flags().StringVar(&f.onUnavailable, "on-unavailable", "",
		"what hooks answer while the daemon cannot be reached: neutral (unless chosen before) or deny")
	cmd.Flags().BoolVar(&f.noTrust, "no-trust", false, "don't mark these hooks as trusted in agents that ask")
	cmd.Flags().BoolVar(&f.full, "full", false, "show every line of the changes")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// OwnPrograms are this program and the hook client that belongs to it.
func OwnPrograms() (self, hook string, err error) {
	if self, err = os.Executable(); err == nil {
		hook, err = launch.HookPath(self)
	}
	return self, hook, err
}

// InstallHost is this machine, as the installer sees it.
func InstallHost(app *cmdutil.App) (*install.Host, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	_, hook, err := OwnPrograms()
	if err != nil {
		return nil, err
	}
	target := install.NewShimTarget(dirs, install.StableHook(hook, app.Getenv("PATH")))
	return &install.Host{
		Dirs: dirs, Project: ProjectFolder(app.Cwd()), Getenv: app.Getenv, Version: version.String,
		Hook: target.Hook, Copied: target.Copied,
		AgentVersion: askOncePerAgent(func(a *agent.Agent) string { return agentVersion(app, a) }),
		Open:         openSessions,
	}, nil
}

func installHooks(ctx context.Context, app *cmdutil.App, f *InstallFlags, args []string) error {
	if f.onUnavailable != "" {
		if err := cmdutil.CheckFlag("on-unavailable", f.onUnavailable, "neutral", "deny"); err != nil {
			return err
		}
	}
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	agents, err := findAgents(app, c, args)
	if err != nil {
		return err
	}
	if err := checkEvents(c, agents, f.events); err != nil {
		return err
	}
	if !f.DryRun {
		if err := UserOnly(ctx, app, c, wire.MethodInstall, false); err != nil {
			return err
		}
	}
	h, err := InstallHost(app)
	if err != nil {
		return err
	}
	h.Known = c.Agents()
	if note := install.ForeignHomeWarning(h.Dirs.Home); note != "" {
		app.PrintNotes([]string{note})
	}
	if len(args) == 0 {
		for _, found := range h.Find(c.Agents()) {
			agents = append(agents, found.Agent)
		}
		if len(agents) == 0 {
			return errors.New("no coding agent found on this machine; name one, for example `hookmux install claude`")
		}
	}
	o := install.Options{Agents: agents, Found: len(args) == 0, Scope: install.User, Events: f.events,
		Trust: !f.noTrust, Known: c.Agents(),
		Deny: f.onUnavailable == "deny", Neutral: f.onUnavailable == "neutral"}
	if slices.Equal(f.events, []string{"default"}) {
		o.Events, o.Usual = nil, true
	}
	if f.project {
		o.Scope = install.Project
	}
	permit, err := permitInstall(ctx, app, c, h, o)
	if err != nil {
		return err
	}
	plan, done, err := carryOut(app, h, func() (*install.Plan, error) { return h.Install(o) }, f, "Write this?", permit)
	if err != nil || !done {
		return err
	}
	acceptFirst(ctx, app, c, h.Dirs)
	if err := cleanEarlier(app, h.Dirs, false); err != nil {
		return err
	}
	if err := noteInstallation(app, h); err != nil {
		return err
	}
	return afterInstall(ctx, app, h, plan, agents, f)
}

// permitInstall returns what asks the user if an installation removes protection, as
// removing hooks does; nil if it doesn't.
func permitInstall(ctx context.Context, app *cmdutil.App, c *agent.Catalogue, h *install.Host, o install.Options,
) (func() error, error) {
	plan, err := h.Install(o)
	if err != nil {
		return nil, err
	}
	weaker, err := h.Weaker(o, plan)
	if err != nil || len(weaker) == 0 {
		return nil, err
	}
	return func() error { return UserOnly(ctx, app, c, wire.MethodUninstall, true) }, nil
}

// checkEvents rejects events that none of the agents has; without agents, none of all.
func checkEvents(c *agent.Catalogue, agents []*agent.Agent, names []string) error {
	if slices.Equal(names, []string{"default"}) {
		return nil
	}
	if len(agents) == 0 {
		agents = c.Agents()
	}
	for _, name := range names {
		if name == "" {
			return cmdutil.UsageError("--events has a comma too many")
		}
		if install.CheckEvents(agents, []string{name}) == nil {
			continue
		}
		var known []string
		for _, k := range event.Kinds() {
			known = append(known, string(k))
		}
		for _, a := range agents {
			for _, e := range a.Events {
				known = append(known, e.Name)
			}
		}
		return cmdutil.UnknownName("kind of event", name, known, "hookmux hooks discover")
	}
	return nil
}

// carryOut shows a plan, asks and carries it out. permit, if not nil, asks in place of the
// question.
func carryOut(app *cmdutil.App, h *install.Host, plans func() (*install.Plan, error), f *InstallFlags,
	question string, permit func() error) (plan *install.Plan, done bool, err error) {
	if plan, err = plans(); err != nil {
		return nil, false, err
	}
	if !f.asJSON {
		if !f.full && !f.DryRun {
			sayPlan(app, h.Dirs.Home, plan)
		} else if err := plan.Apply(&install.Diff{Out: app.Stdout, Color: app.Style().Color, Home: h.Dirs.Home,
			Full: f.full}); err != nil {
			return nil, false, err
		}
		for _, n := range plan.Notes {
			app.Say("note: %s", termsafe.Text(n))
		}
	}
	if f.DryRun {
		if f.asJSON {
			return plan, false, app.PrintJSON(plan)
		}
		app.Say("dry run, nothing written; %s", CountFiles(plan.Files()))
		return plan, false, nil
	}
	shown := plan
	if plan.Files() > 0 {
		if err := ConfirmPlan(app, plan, f, question, permit != nil); err != nil {
			return nil, false, err
		}
	}
	if permit != nil {
		if err := permit(); err != nil {
			return nil, false, err
		}
	}
	if f.Yes { // to whatever there is to do
		shown = nil
	}
	disk := &install.Disk{Trust: func(g *install.OwnHooks) error { return appServer(app, g.Agent, g.Cwd).Trust(g) }}
	plan, err = h.ApplyPlan(plans, shown, disk)
	return plan, err == nil, err
}

// appServer returns an agent's own server.
func appServer(app *cmdutil.App, a *agent.Agent, cwd string) install.AppServer {
	program := agentProgram(app, a)
	if program == "" {
		program = a.Launch.Program
	}
	return install.AppServer{Program: program, Args: []string{"app-server"}, Env: app.Environ, Dir: cwd}
}

func ConfirmPlan(app *cmdutil.App, plan *install.Plan, f *InstallFlags, question string, askedLater bool) error {
	for _, a := range plan.Agents {
		if a.Trusted && a.Changed && !f.asJSON {
			app.Say("%s will trust exactly these hooks.", a.Title)
		}
	}
	if f.Yes {
		return nil
	}
	in, ok := app.Stdin.(*os.File)
	if f.asJSON || !ok || !term.IsTerminal(int(in.Fd())) {
		return cmdutil.UsageError("this asks before it writes; run it in a terminal, or add --yes")
	}
	if askedLater {
		return nil
	}
	ask := app.Stdout
	if out, ok := app.Stdout.(*os.File); !ok || !term.IsTerminal(int(out.Fd())) {
		ask = app.Stderr // the changes are read by a program, the question by the user
	}
	fmt.Fprintf(ask, "%s [y/N] ", question)
	said, err := app.ReadYes()
	if err == nil && !said {
		err = errors.New("nothing was written")
	}
	return err
}

// emptyNotNil is never null in JSON.
func emptyNotNil[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}
