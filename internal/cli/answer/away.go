package answer

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// AwayCommand is `hookmux away`.
func AwayCommand(app *cmdutil.App) *cobra.Command {
	var end, asJSON bool
	cmd := &cobra.Command{
		Use:   "away",
		Short: "Have agents wait while you're away",
		Long: `While you're away, requests wait for you as long as the agent allows, even where
that blocks the agent's own prompt. ` + "`hookmux away --end`" + ` ends it and shows what
happened and what's still waiting.`,
		Example: "  hookmux away\n  hookmux away --end",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON && !end {
				return cmdutil.UsageError("--json needs --end")
			}
			c, err := app.ConnectDaemon(cmd.Context())
			if err != nil {
				return err
			}
			if end {
				return endAway(cmd.Context(), app, c, asJSON)
			}
			if err := c.Away(cmd.Context()); err != nil {
				return err
			}
			app.Say("you're away: requests wait for you until `hookmux away --end`")
			return nil
		},
	}
	cmd.Flags().BoolVar(&end, "end", false, "come back: what happened, and what's waiting")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --end, print JSON: {wasAway, since, waiting, ended, permitted, "+
		"logOnly, logOnlyCount, note?}")
	return cmd
}

// endAway comes back and says what happened.
func endAway(ctx context.Context, app *cmdutil.App, c *client.Client, asJSON bool) error {
	digest, err := c.Back(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(digest)
	}
	now, style := time.Now(), app.Style()
	if !digest.WasAway {
		app.Say("you weren't away")
	} else {
		var parts []string
		if n := len(digest.Ended); n > 0 {
			parts = append(parts, count(n, "request")+" closed")
		}
		if n := len(digest.Waiting); n > 0 {
			parts = append(parts, count(n, "request")+" waiting")
		}
		if digest.Permitted > 0 {
			parts = append(parts, count(int(digest.Permitted), "call")+" allowed by saved permissions")
		}
		app.Say("while you were away (since %s): %s", text.Moment(*digest.Since, now),
			cmp.Or(strings.Join(parts, ", "), "no requests"))
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
}

// sayLogOnly says what guards, rules and hooks in log mode would have done.
func sayLogOnly(app *cmdutil.App, digest *client.Digest) {
	if digest.LogOnlyCount == 0 {
		return
	}
	app.Say("in log mode: %s would have been stopped or changed", count(digest.LogOnlyCount, "call"))
	for _, one := range digest.LogOnly {
		would := one.Would
		app.Say("  %s  %s %s  %s %s", one.Time.Local().Format("15:04:05"), termsafe.Line(one.Agent, 24),
			termsafe.Line(one.Tool, 40), text.Who(one.Hook), text.WouldHave(&would))
	}
	if more := digest.LogOnlyCount - len(digest.LogOnly); more > 0 {
		app.Say("  and %d more; `hookmux log --log-only` lists them", more)
	}
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
