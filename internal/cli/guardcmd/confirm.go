package guardcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// ConfirmCommand is `hookmux config accept`.
func ConfirmCommand(app *cmdutil.App) *cobra.Command {
	var yes, asJSON, list, follow, restore bool
	cmd := &cobra.Command{
		Use:   "confirm",
		Short: "Accept changes of your settings that hookmux's commands did not make",
		Long: `Settings, hooks and the programs they run count as you confirmed them last: what
an editor, a dotfile manager or an agent changes in them waits for you here,
except for what only refuses more. Shows first what becomes weaker, then the
difference, and takes all changes together. hookmux's own commands confirm what
they write themselves.

--restore goes the other way: it writes what you confirmed back into the files,
also into ones that were deleted. Nothing that is in force changes by that.

While you write hooks, keep ` + "`hookmux config accept --follow FILE…`" + ` open: it takes every
change of these files as it comes, until it ends.`,
		Example: "  hookmux config accept\n  hookmux config accept --list            # only show\n" +
			"  hookmux config accept --restore         # undo what was changed\n" +
			"  hookmux config accept --follow ~/.config/hookmux/hooks/gate.ts",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case follow && len(args) == 0:
				return cmdutil.UsageError("--follow needs the files to follow, as in `hookmux config accept --follow " +
					"~/.config/hookmux/hooks/gate.ts`")
			case !follow && len(args) > 0:
				return cmdutil.UsageError("confirm takes all changes together and no file; with --follow it takes "+
					"changes of %s as they come", args[0])
			case follow && (list || asJSON || yes):
				return cmdutil.UsageError("--follow goes with none of --list, --json and --yes")
			case restore && (follow || list):
				return cmdutil.UsageError("--restore goes with neither --list nor --follow")
			case list && yes:
				return cmdutil.UsageError("--list confirms nothing, so there is nothing to say --yes to")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow {
				return followChanges(cmd.Context(), app, args)
			}
			return confirmChanges(cmd.Context(), app,
				confirmOptions{yes: yes, asJSON: asJSON, list: list, restore: restore})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask (your terminal is asked for a code all the same)")
	cmd.Flags().BoolVar(&list, "list", false, "only show what waits; exit code 1 if something does")
	cmd.Flags().BoolVar(&restore, "restore", false, "write what you confirmed back into the files that were changed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {basis, weaker, changes: [{file, change, diff, …}], hash}")
	cmd.Flags().BoolVar(&follow, "follow", false, "take changes of these files as they come, until Ctrl-C")
	return cmd
}

type confirmOptions struct{ yes, asJSON, list, restore bool }

func confirmChanges(ctx context.Context, app *cmdutil.App, o confirmOptions) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	var view wire.ConfirmView
	if err := c.Call(ctx, wire.MethodConfirmLook, nil, &view); err != nil {
		return err
	}
	waits := len(view.Changes) > 0 || view.Basis != "confirmed"
	if o.asJSON && (o.list || !waits) {
		if err := app.PrintJSON(view); err != nil || !waits {
			return err
		}
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	if !o.asJSON {
		showChanges(app, &view)
	}
	if !waits {
		return nil
	}
	if o.list {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	if o.restore {
		return restoreConfirmed(ctx, app, c, &view, o)
	}
	for _, one := range view.Changes {
		if one.Error != "" {
			return fmt.Errorf("%s cannot be confirmed: %s; correct it first", one.File, one.Error)
		}
	}
	if err := app.ConfirmByCode("Let this count?", o.yes); err != nil {
		return err
	}
	var done wire.ConfirmView
	if err := c.Call(ctx, wire.MethodConfirm, wire.ConfirmParams{Hash: view.Hash}, &done); err != nil {
		if view.Basis == "confirmed" && !o.asJSON {
			app.Say("what you confirmed is still in force; `hookmux config accept --restore` writes it back into the files")
		}
		return err
	}
	if o.asJSON {
		return app.PrintJSON(done)
	}
	app.Say("confirmed; %s now", countFiles(len(done.Changes)))
	for _, note := range done.Notes {
		app.Say("%s", termsafe.Line(note, 300))
	}
	return nil
}

// restoreConfirmed writes what was confirmed back into the files.
func restoreConfirmed(ctx context.Context, app *cmdutil.App, c *client.Client, view *wire.ConfirmView,
	o confirmOptions,
) error {
	if err := app.Confirm("Undo these changes, so that the files hold again what you confirmed?", o.yes); err != nil {
		return err
	}
	var done wire.ConfirmView
	if err := c.Call(ctx, wire.MethodConfirmRestore, wire.ConfirmParams{Hash: view.Hash}, &done); err != nil {
		return err
	}
	if o.asJSON {
		return app.PrintJSON(done)
	}
	for _, one := range done.Changes {
		app.Say("restored %s", termsafe.Line(app.Shorten(one.File), 300))
	}
	if dirs, err := app.Dirs(); err == nil && len(done.Changes) > 0 {
		replaced := app.Shorten(filepath.Join(dirs.State, "replaced"))
		app.Say("what stood there is kept in %s", termsafe.Line(replaced, 300))
	}
	for _, note := range done.Notes {
		app.Say("left as it is: %s", termsafe.Line(app.Shorten(note), 300))
	}
	if len(done.Notes) > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

func countFiles(n int) string {
	switch n {
	case 0:
		return "your settings count as they are"
	case 1:
		return "this file counts as it is"
	}
	return fmt.Sprintf("these %d files count as they are", n)
}

// showChanges shows what waits and what is in force meanwhile.
func showChanges(app *cmdutil.App, view *wire.ConfirmView) {
	switch {
	case view.Basis == "lost":
		app.Say("What you confirmed last is gone or damaged, so all built-in guards are on and your files\n" +
			"count only as far as they refuse. This is all that is there now:")
	case view.Basis == "new" && len(view.Changes) > 0:
		app.Say("Nothing was confirmed yet: guards keep their defaults, and your files count only as far as\nthey " +
			"refuse. This is all that is there now:")
	case len(view.Changes) == 0:
		app.Say("nothing waits: your settings count as they are")
	}
	if view.Problem != "" {
		app.Say("problem: %s", termsafe.Line(app.Shorten(view.Problem), 300))
	}
	if len(view.Weaker) > 0 {
		app.Say("What becomes weaker, or may say yes in your place:")
		for _, one := range view.Weaker {
			app.Say("  %s", termsafe.Line(app.Shorten(one), 300))
		}
		app.Say("")
	}
	style := app.Style()
	for _, one := range view.Changes {
		app.Say("%s", style.DiffTitle(one.Change, termsafe.Line(app.Shorten(one.File), 300)))
		for line := range strings.Lines(one.Diff) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") {
				line = app.Shorten(line)
			}
			app.Say("%s", style.DiffLine(termsafe.Text(line)))
		}
		if one.Counts {
			app.Say("  what refuses more counts already")
		}
		if one.Error != "" {
			app.Say("  problem: %s", termsafe.Line(app.Shorten(one.Error), 300))
		}
	}
}

// followChanges takes changes of files until it is ended.
func followChanges(ctx context.Context, app *cmdutil.App, args []string) error {
	files := make([]string, len(args))
	for i, arg := range args {
		path, err := filepath.Abs(arg)
		if err != nil {
			return err
		}
		files[i] = path
	}
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	// Listening begins first, so that no change is missed.
	streaming, stop := context.WithCancel(ctx)
	defer stop()
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- tellTaken(streaming, app, c, files, ready) }()
	select {
	case <-ready:
	case err := <-ended:
		return err
	}
	if err := c.Call(ctx, wire.MethodConfirmFollow, wire.ConfirmFilesParams{Files: files}, nil); err != nil {
		return err
	}
	app.Say("every change of %s is taken as it comes; Ctrl-C ends",
		termsafe.Line(app.Shorten(strings.Join(files, ", ")), 300))
	err = <-ended
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("changes are no longer taken: %w", err)
}

// tellTaken shows which changes were taken.
func tellTaken(ctx context.Context, app *cmdutil.App, c *client.Client, files []string, ready chan<- struct{}) error {
	open := true
	return c.Stream(ctx, wire.StreamParams{}, func(note client.Note) error {
		if note.Ready != nil && open {
			open = false
			close(ready)
		}
		if note.Trace == nil || note.Trace.Hook != wire.ConfirmHook {
			return nil
		}
		if slices.Contains(files, note.Trace.File) {
			app.Say("confirmed %s", termsafe.Line(app.Shorten(note.Trace.Text), 300))
		}
		return nil
	})
}
