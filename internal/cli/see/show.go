package see

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/launch/start"
	"github.com/hookmux/hookmux/internal/wire"
)

// ShowCommand is `hookmux show`.
func ShowCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show SESSION",
		Short:   "Show one session: its turns, failed calls, files, and how to resume it",
		Long:    "Shows everything hookmux knows about a session. It works without a running daemon.\n" + cmdutil.SessionNames,
		Example: "  hookmux show %3\n  hookmux show 0199a1 --json",
		Args:    cmdutil.ExactArgs("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showSession(cmd.Context(), app, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: what ps --json says, and {earlier, files, errors, "+
		"helpers, resume}")
	return cmd
}

func showSession(ctx context.Context, app *cmdutil.App, name string, asJSON bool) error {
	c, err := askDaemon(ctx, app)
	if err != nil {
		return err
	}
	var d *wire.SessionDetail
	if c == nil {
		d, err = storedSession(app, name)
	} else {
		d, err = c.Session(ctx, name)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(d)
	}
	quoted := ""
	if d.Resume != nil {
		quoted = start.Line(d.Resume)
	}
	var b strings.Builder
	app.Style().Session(&b, d, time.Now(), quoted)
	for line := range strings.Lines(app.Shorten(b.String())) {
		app.Say("%s", strings.TrimRight(line, "\n"))
	}
	return nil
}
