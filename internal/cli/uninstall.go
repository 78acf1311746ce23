package cli

import (
	"context"
	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

func (w *world) uninstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall [AGENT…]",
		Short: "Take hookmux's hooks out of agents' config",
		Long: `Takes out exactly what install put in, of all agents or of those that are named,
in your files and in every project. A file that nobody else changed gets back its
old bytes; from others only hookmux's own entries go. They are recognised by their
command, also where no record of the installation is left.`,
		Example: "  hookmux uninstall\n  hookmux uninstall codex --dry-run",
		RunE:    func(cmd *cobra.Command, args []string) error { return w.uninstall(cmd.Context(), &f, args) },
	}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.full, "full", false, "show every line of the changes")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "for programs")
	return cmd
}

func (w *world) uninstall(ctx context.Context, f *installFlags, args []string) error {
	c, err := w.catalogue()
	if err != nil {
		return err
	}
	agents, err := w.named(c, args)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		agents = c.Agents()
	}
	if !f.dryRun {
		if err := w.personOnly(ctx, c, wire.MethodUninstall, true); err != nil {
			return err
		}
	}
	h, err := w.uninstallHost()
	if err != nil {
		return err
	}
	h.Known = c.Agents()
	plan, done, err := w.carryOut(h, func() (*install.Plan, error) { return h.Uninstall(agents) }, f, "Take this out?")
	if err != nil || !done {
		return err
	}
	if f.asJSON {
		err = w.printJSON(map[string]any{"agents": list(plan.Agents), "notes": list(plan.Notes), "left": list(plan.Left), "files": plan.Files()})
	} else {
		w.sayTakenOut(h, plan)
	}
	if err == nil && len(plan.Left) > 0 {
		return &codeError{code: exitError}
	}
	return err
}

func (w *world) sayTakenOut(h *install.Host, plan *install.Plan) {
	if len(plan.Agents) == 0 && len(plan.Left) == 0 {
		w.say("there was nothing of hookmux to take out")
	}
	for _, a := range plan.Agents {
		path := termsafe.Text(install.Short(h.Dirs.Home, a.Path))
		if a.Changed {
			w.say("%s: taken out of %s", a.Name, path)
		} else {
			w.say("%s: %s held nothing of hookmux any more; its record is gone too", a.Name, path)
		}
	}
	for _, path := range plan.Left {
		w.say("%s: hookmux is still in it", termsafe.Text(install.Short(h.Dirs.Home, path)))
	}
}

// uninstallHost does without hookmux-hook: it may be gone already.
func (w *world) uninstallHost() (*install.Host, error) {
	if h, err := w.installHost(); err == nil {
		return h, nil
	}
	dirs, err := w.dirs()
	if err != nil {
		return nil, err
	}
	return &install.Host{Dirs: dirs, Project: projectFolder(w.cwd()), Getenv: w.getenv}, nil
}
