package runcmd

import (
	"context"
	"errors"

	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/spf13/cobra"
)

func tmuxUninstallCommand(app *cmdutil.App) *cobra.Command {
	var f agents.InstallFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove hookmux from your tmux.conf and the running tmux",
		Long: `Removes exactly what install added: your tmux.conf gets its original bytes back, and
a running tmux its formats, keys and window names.`,
		Example: "  hookmux tmux uninstall\n  hookmux tmux uninstall --dry-run",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return tmuxUninstall(cmd.Context(), app, &f) },
	}
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "show what would change without changing it")
	cmd.Flags().BoolVarP(&f.Yes, "yes", "y", false, "don't ask")
	return cmd
}

func tmuxUninstall(ctx context.Context, app *cmdutil.App, f *agents.InstallFlags) error {
	if err := mayChangeTmux(ctx, app, f); err != nil {
		return err
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	var changes []install.Step
	for _, path := range tmux.ConfPaths(dirs.Home, app.Getenv) {
		text, err := readConf(path)
		if err != nil {
			return err
		}
		rest, gone, found := tmux.DropLine(text)
		switch {
		case gone:
			changes = append(changes, install.Step{Op: install.OpDelete, Path: path, Old: text})
		case found:
			changes = append(changes, install.Step{Op: install.OpWrite, Path: path, Old: text, New: rest})
		}
	}
	own := tmux.OwnConf(dirs.Data)
	if text, err := readConf(own); err != nil {
		return err
	} else if text != nil {
		changes = append(changes, install.Step{Op: install.OpDelete, Path: own, Old: text})
		changes = append(changes, install.DropShimForTmux(dirs)...)
	}
	server := tmux.FromEnv(app.Getenv)
	running := server.Running(ctx)
	if len(changes) == 0 && !(running && server.ShowsIcons(ctx)) {
		app.Say("hookmux isn't installed in tmux; nothing to remove")
		return nil
	}
	done, err := tmuxCarry(app, dirs, changes, nil, f, "Take this out?")
	if err != nil || !done {
		return err
	}
	// The daemon stops naming windows before their names are given back.
	if err := setFollow(ctx, app, nil); err != nil {
		app.Say("note: %s stays as it is: %s", config.TmuxFollow, termsafe.Line(err.Error(), 200))
	}
	if running {
		if err := server.Unload(ctx); err != nil && !errors.Is(err, tmux.ErrNoServer) {
			return err
		}
	}
	app.Say("removed hookmux from tmux")
	return nil
}
