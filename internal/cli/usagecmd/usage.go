// Package usagecmd implements `hookmux usage`: what agents used, how much of plans is left,
// and budgets.
package usagecmd

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/usage"
	"github.com/hookmux/hookmux/internal/wire"
)

// UsageCommand is `hookmux usage`.
func UsageCommand(app *cmdutil.App) *cobra.Command {
	var by []string
	var since, host string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Show tokens and cost",
		Long: `Shows tokens and cost from the agents' own records. Dollars are list prices: on a
plan, you aren't billed these amounts. Models without a known price are listed
separately; add one to ~/.config/hookmux/usage-prices.yaml.`,
		Example: "  hookmux usage\n  hookmux usage --by agent,model --since 30d\n" +
			"  hookmux usage --by day --since all --json",
		Args: cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, one := range by {
				if !slices.Contains(wire.UsageGroups(), one) {
					return cmdutil.CheckFlag("by", one, wire.UsageGroups()...)
				}
			}
			if _, err := ParseSince(since, time.Now()); err != nil {
				return err
			}
			var daemon wire.Info
			if err := app.CallDaemon(cmd.Context(), wire.MethodInfo, nil, &daemon); err != nil {
				return err
			}
			now := time.Now().In(daemon.Clock.Location()) // days are the daemon's
			from, err := ParseSince(since, now)
			if err != nil {
				return err
			}
			plain := by == nil && !asJSON
			params := wire.UsageParams{By: by, Since: from}
			if by == nil {
				params.By = []string{wire.ByAgent, wire.ByModel, wire.ByProject, wire.ByDay}
			}
			var report wire.UsageReport
			if host == "" || host == text.ThisMachine {
				err = app.CallDaemon(cmd.Context(), wire.MethodUsage, params, &report)
			} else {
				report, err = fleetReport(cmd.Context(), app, host, params)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(report)
			}
			sayPriceProblem(app)
			v := view{w: app.Stdout, style: app.Style(), width: cmp.Or(app.Columns(), noLimit), shorten: app.Shorten}
			if plain {
				v.overview(&report, since, from, now)
			} else {
				v.rows(&report, by, from)
			}
			v.notes(&report)
			return nil
		},
	}
	cmd.Flags().StringVar(&host, "host", "", "of this other machine; all for every one")
	cmd.Flags().StringSliceVar(&by, "by", nil, "one line for each agent, model, project, session or day; several divided by commas")
	cmd.Flags().StringVar(&since, "since", "7d", "today, a number of days (7d), a day (2026-11-01), or all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {totals: {inputTokens, …, costUSD}, rows: [{agent, model, …, costUSD|null}], unpriced}")
	cmd.AddCommand(limitsCommand(app), budgetCommand(app), statuslineCommand(app))
	return cmd
}

// sayPriceProblem says why your own table of prices isn't used.
func sayPriceProblem(app *cmdutil.App) {
	dirs, err := app.Dirs()
	if err != nil {
		return
	}
	own, err := usage.LoadPrices(dirs.Config)
	if err == nil {
		err = usage.CheckPrices(own)
	}
	if err != nil {
		file := app.Shorten(filepath.Join(dirs.Config, usage.PricesFile))
		app.Say("%s", app.Style().Warning(termsafe.Line(file+" isn't used: "+err.Error(), 400)))
	}
}

// ParseSince reads since when usage is wanted; zero is since ever. Days begin at
// local midnight.
func ParseSince(value string, now time.Time) (time.Time, error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	if value == "all" {
		return time.Time{}, nil
	}
	if day, ok := cmdutil.Day(value, now); ok {
		return day, nil
	}
	span, err := config.ParseSpan(value)
	if err != nil || span <= 0 {
		return time.Time{}, cmdutil.BadMoment("--since", value, "today, 7d, 2026-11-01 or all")
	}
	const day = 24 * time.Hour
	if span%day != 0 {
		return time.Time{}, cmdutil.UsageError("--since counts whole days; write today, 2d, 7d, a day (2026-11-01), or all")
	}
	return midnight.AddDate(0, 0, 1-int(span/day)), nil
}
