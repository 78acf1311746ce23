package configcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// acceptCommand is `hookmux config accept`.
func acceptCommand(app *cmdutil.App) *cobra.Command {
	var yes, asJSON, list, follow, restore bool
	cmd := &cobra.Command{
		Use:   "accept",
		Short: "Accept changes to your settings that hookmux's commands didn't make",
		Long: `hookmux only uses settings and hooks you've accepted. If an editor, a dotfile manager
or an agent changes them, the change waits until you accept it here, unless it's
stricter. Shows what gets weaker, then the diff, and accepts all changes together.
What hookmux's own commands write is accepted already.

--restore does the opposite: it writes what you accepted back into the files.

While you write hooks, keep ` + "`hookmux config accept -f FILE…`" + ` open: it accepts every
change to these files as it comes, until you end it.`,
		Example: "  hookmux config accept\n  hookmux config accept --dry-run         # only show\n" +
			"  hookmux config accept --restore         # undo what was changed\n" +
			"  hookmux config accept --follow ~/.config/hookmux/hooks/gate.ts",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case follow && len(args) == 0:
				return cmdutil.UsageError("--follow needs files to follow, as in `hookmux config accept --follow " +
					"~/.config/hookmux/hooks/gate.ts`")
			case !follow && len(args) > 0:
				return cmdutil.UsageError("accept takes no file: it accepts all changes together; with --follow it accepts "+
					"changes to %s as they come", args[0])
			case follow && (list || asJSON || yes):
				return cmdutil.UsageError("--follow can't be combined with --dry-run, --json or --yes")
			case restore && (follow || list):
				return cmdutil.UsageError("--restore can't be combined with --dry-run or --follow")
			case list && yes:
				return cmdutil.UsageError("use --dry-run or --yes, not both")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow {
				return followChanges(cmd.Context(), app, args)
			}
			return acceptChanges(cmd.Context(), app,
				acceptOptions{yes: yes, asJSON: asJSON, list: list, restore: restore})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask (your terminal still asks for a code)")
	cmd.Flags().BoolVar(&list, "dry-run", false, "only show what waits; exit with 1 if something does")
	cmd.Flags().BoolVar(&restore, "restore", false, "write what you accepted back into the files")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {basis, weaker, changes: [{file, change, diff, …}], hash}")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "accept changes to these files as they come, until Ctrl-C")
	return cmd
}

type acceptOptions struct{ yes, asJSON, list, restore bool }

func acceptChanges(ctx context.Context, app *cmdutil.App, o acceptOptions) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	var view wire.AcceptView
	if err := c.Call(ctx, wire.MethodAcceptLook, nil, &view); err != nil {
		return err
	}
	waits := len(view.Changes) > 0 || view.Basis != "accepted"
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
		return restoreAccepted(ctx, app, c, &view, o)
	}
	for _, one := range view.Changes {
		if one.Error != "" {
			what := one.Error
			if !strings.HasPrefix(what, one.File) {
				what = one.File + ": " + what
			}
			return fmt.Errorf("can't accept %s; correct it first", what)
		}
	}
	if err := app.ConfirmByCode("Accept this?", o.yes); err != nil {
		if view.Basis == "accepted" && errors.Is(err, cmdutil.ErrDeclined) {
			app.Say("what you accepted before still applies; `hookmux config accept --restore` writes it back into the files")
		}
		return err
	}
	var done wire.AcceptView
	if err := c.Call(ctx, wire.MethodAccept, wire.AcceptParams{Hash: view.Hash}, &done); err != nil {
		if view.Basis == "accepted" && !o.asJSON {
			app.Say("what you accepted before still applies; `hookmux config accept --restore` writes it back into the files")
		}
		return err
	}
	if o.asJSON {
		return app.PrintJSON(done)
	}
	app.Say("accepted %s", countFiles(len(done.Changes)))
	for _, note := range done.Notes {
		app.Say("%s", termsafe.Line(note, 300))
	}
	return nil
}

// restoreAccepted writes what was accepted back into the files.
func restoreAccepted(ctx context.Context, app *cmdutil.App, c *client.Client, view *wire.AcceptView,
	o acceptOptions,
) error {
	if err := app.Confirm("Undo these changes in the files?", o.yes); err != nil {
		return err
	}
	var done wire.AcceptView
	if err := c.Call(ctx, wire.MethodAcceptRestore, wire.AcceptParams{Hash: view.Hash}, &done); err != nil {
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
		app.Say("the old content is kept in %s", termsafe.Line(replaced, 300))
	}
	for _, note := range done.Notes {
		app.Say("not restored: %s", termsafe.Line(app.Shorten(note), 300))
	}
	if len(done.Notes) > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

func countFiles(n int) string {
	switch n {
	case 0:
		return "your settings as they are"
	case 1:
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// showChanges shows what waits and what is in force in the meantime.
func showChanges(app *cmdutil.App, view *wire.AcceptView) {
	switch {
	case view.Basis == "lost":
		app.Say("What you accepted last is gone or damaged, so all built-in guards block, and of your\n" +
			"files only what refuses applies. This is all that is there now:")
	case view.Basis == "new" && len(view.Changes) > 0:
		app.Say("You haven't accepted anything yet: guards keep their defaults, and of your files only\n" +
			"what refuses applies. This is all that is there now:")
	case len(view.Changes) == 0:
		app.Say("nothing to accept: your settings apply as they are")
	}
	if view.Problem != "" {
		app.Say("problem: %s", termsafe.Line(app.Shorten(view.Problem), 300))
	}
	if len(view.Weaker) > 0 {
		app.Say("These changes weaken protection or can approve calls for you:")
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
			app.Say("  stricter parts already apply")
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
		if _, err := os.Stat(path); err != nil {
			return cmdutil.FileError(arg, err)
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
	if err := c.Call(ctx, wire.MethodAcceptFollow, wire.AcceptFilesParams{Files: files}, nil); err != nil {
		return err
	}
	app.Say("accepting every change to %s; Ctrl-C ends this",
		termsafe.Line(app.Shorten(strings.Join(files, ", ")), 300))
	err = <-ended
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("changes are no longer accepted: %w", err)
}

// tellTaken shows which changes were taken.
func tellTaken(ctx context.Context, app *cmdutil.App, c *client.Client, files []string, ready chan<- struct{}) error {
	open := true
	return c.Stream(ctx, wire.StreamParams{}, func(note client.Note) error {
		if note.Ready != nil && open {
			open = false
			close(ready)
		}
		if note.Trace == nil || note.Trace.Hook != wire.AcceptHook {
			return nil
		}
		if slices.Contains(files, note.Trace.File) {
			app.Say("accepted %s", termsafe.Line(app.Shorten(note.Trace.Text), 300))
		}
		return nil
	})
}
