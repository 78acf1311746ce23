package main

import (
	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/visible"
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
		RunE:    func(_ *cobra.Command, args []string) error { return w.uninstall(&f, args) },
	}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "for programs")
	return cmd
}

func (w *world) uninstall(f *installFlags, args []string) error {
	c, err := w.catalogue()
	if err != nil {
		return err
	}
	agents, err := named(c, args)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		agents = c.Agents()
	}
	if !f.dryRun {
		if err := w.personOnly(c, true); err != nil {
			return err
		}
	}
	h, err := w.uninstallHost()
	if err != nil {
		return err
	}
	plan, err := h.Uninstall(agents)
	if err != nil {
		return err
	}
	done, err := w.carryOut(h, plan, f, "Take this out?")
	if err != nil || !done {
		return err
	}
	if f.asJSON {
		return w.printJSON(map[string]any{"agents": plan.Agents, "notes": plan.Notes, "files": plan.Files()})
	}
	if len(plan.Agents) == 0 {
		w.say("there was nothing of hookmux to take out")
		return nil
	}
	for _, a := range plan.Agents {
		w.say("%s: taken out of %s", a.Name, visible.Text(install.Short(h.Dirs.Home, a.Path)))
	}
	return nil
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
