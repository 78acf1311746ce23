package answer

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// AwayCommand is `hookmux away`.
func AwayCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:   "away",
		Short: "Hold agents' requests while you are away",
		Long: `Until ` + "`hookmux away --end`" + `, requests wait as long as agents let them, also where an
agent's own dialog cannot be used meanwhile.`,
		Example: "  hookmux away",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := app.ConnectDaemon(cmd.Context())
			if err != nil {
				return err
			}
			if err := c.Away(cmd.Context()); err != nil {
				return err
			}
			app.Say("you are away: agents' requests wait for you until `hookmux away --end`")
			return nil
		},
	}
}

// sayLogOnly says what only logged guards and hooks would have done.
func sayLogOnly(app *cmdutil.App, digest *client.Digest) {
	if digest.LogOnlyCount == 0 {
		return
	}
	app.Say("logOnly: a guard or hook would have had a say in %d calls", digest.LogOnlyCount)
	for _, one := range digest.LogOnly {
		would := one.Would
		app.Say("  %s  %s %s  %s %s", one.Time.Local().Format("15:04:05"), termsafe.Line(one.Agent, 24),
			termsafe.Line(one.Tool, 40), termsafe.Line(one.Hook, 60), text.WouldHave(&would))
	}
	if more := digest.LogOnlyCount - len(digest.LogOnly); more > 0 {
		app.Say("  and %d more; `hookmux log --log-only` lists them", more)
	}
}

// BackCommand is `hookmux away --end`.
func BackCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "back",
		Short:   "Come back: what happened, and what waits",
		Example: "  hookmux away --end",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := app.ConnectDaemon(cmd.Context())
			if err != nil {
				return err
			}
			digest, err := c.Back(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(digest)
			}
			now, style := time.Now(), app.Style()
			if !digest.WasAway {
				app.Say("you were not away")
			} else {
				app.Say("away since %s: %d requests ended, %d wait, permissions let %d calls pass",
					text.Moment(*digest.Since, now), len(digest.Ended), len(digest.Waiting), digest.Permitted)
			}
			if digest.Note != "" {
				app.Say("%s", termsafe.Line(digest.Note, 0))
			}
			for i := range digest.Ended {
				item := &digest.Ended[i]
				app.Say("%s  %s  %s", item.ID, style.About(item), style.Ended(item))
			}
			sayLogOnly(app, &digest)
			for i := range digest.Waiting {
				fmt.Fprint(app.Stdout, "\n"+style.Request(&digest.Waiting[i], now))
			}
			return nil
		},
	}
	cmd.Flags().
		BoolVar(&asJSON, "json", false, "for programs: {wasAway, since, waiting, ended, permitted, logOnly, "+
			"logOnlyCount, note?}")
	return cmd
}
