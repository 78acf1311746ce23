// Package usagecmd has `hookmux usage`: what agents used, how much of plans is left,
// and budgets.
package usagecmd

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/usage"
	"github.com/hookmux/hookmux/internal/wire"
)

// UsageCommand is `hookmux usage`.
func UsageCommand(app *cmdutil.App) *cobra.Command {
	var by []string
	var since string
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
			if err := app.CallDaemon(cmd.Context(), wire.MethodUsage, params, &report); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(report)
			}
			sayPriceProblem(app)
			width := cmp.Or(app.Columns(), 80)
			if plain {
				showOverview(app.Stdout, &report, from, now, width, app.Shorten)
			} else {
				showRows(app.Stdout, &report, by, width, app.Shorten)
			}
			showNotes(app.Stdout, &report)
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&by, "by", nil, "divide by agent, model, project, session, day")
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
	if const24 := 24 * time.Hour; span%const24 == 0 {
		return midnight.AddDate(0, 0, 1-int(span/const24)), nil
	}
	return now.Add(-span), nil
}

// sum is what several rows used.
type sum struct {
	name     string
	tokens   int64
	cost     float64
	unpriced int64
}

func (s *sum) add(r *wire.UsageRow) {
	s.tokens += r.Total()
	s.unpriced += r.UnpricedTokens
	if r.CostUSD != nil {
		s.cost += *r.CostUSD
	}
}

// costText is an amount; it says where a part of it isn't known.
func (s *sum) costText() string {
	switch {
	case s.unpriced > 0 && s.cost == 0:
		return "no price"
	case s.unpriced > 0:
		return "> " + wire.Dollars(s.cost)
	}
	return wire.Dollars(s.cost)
}

// sumBy adds rows up, the most expensive first.
func sumBy(rows []wire.UsageRow, name func(*wire.UsageRow) string) []*sum {
	var list []*sum
	for i := range rows {
		key := name(&rows[i])
		at := slices.IndexFunc(list, func(s *sum) bool { return s.name == key })
		if at < 0 {
			at = len(list)
			list = append(list, &sum{name: key})
		}
		list[at].add(&rows[i])
	}
	slices.SortStableFunc(list, func(a, b *sum) int {
		return cmp.Or(-cmp.Compare(a.cost, b.cost), -cmp.Compare(a.tokens, b.tokens), cmp.Compare(a.name, b.name))
	})
	return list
}

const maxShown = 8

// showOverview shows today, all days as a chart, and where it went.
func showOverview(w io.Writer, report *wire.UsageReport, from, now time.Time, width int,
	shorten func(string) string) {
	if len(report.Rows) == 0 {
		fmt.Fprintln(w, "no usage on record"+sinceWords(from))
		return
	}
	today, all := sum{}, sum{}
	day := now.Format(time.DateOnly)
	for i := range report.Rows {
		all.add(&report.Rows[i])
		if report.Rows[i].Day == day {
			today.add(&report.Rows[i])
		}
	}
	fmt.Fprintf(w, "today   %10s  %s tokens\n", today.costText(), wire.Count(today.tokens))
	fmt.Fprintf(w, "total   %10s  %s tokens%s\n", all.costText(), wire.Count(all.tokens), sinceWords(from))
	showChart(w, sumBy(report.Rows, func(r *wire.UsageRow) string { return r.Day }), width)
	for _, part := range []struct {
		title string
		name  func(*wire.UsageRow) string
	}{
		{"AGENT", func(r *wire.UsageRow) string { return r.Agent }},
		{"MODEL", func(r *wire.UsageRow) string { return r.Model }},
		{"PROJECT", func(r *wire.UsageRow) string { return shorten(cmp.Or(r.Project, "unknown")) }},
	} {
		list := sumBy(report.Rows, part.name)
		fmt.Fprintf(w, "\n%s\n", part.title)
		for i, s := range list {
			if i == maxShown {
				fmt.Fprintf(w, "  and %d more: hookmux usage --by %s\n", len(list)-i, strings.ToLower(part.title))
				break
			}
			fmt.Fprintf(w, "  %s %10s  %8s tokens\n", pad(s.name, min(40, width-34)), s.costText(), wire.Count(s.tokens))
		}
	}
}

func sinceWords(from time.Time) string {
	if from.IsZero() {
		return ""
	}
	return " since " + from.Format(time.DateOnly)
}

// pad is a name in exactly that many columns.
func pad(name string, width int) string {
	name = termsafe.Line(name, width)
	return name + strings.Repeat(" ", max(0, width-termsafe.Width(name)))
}

// chartDays is how many days a chart has at most.
const chartDays = 14

// showChart draws a bar for each day: of its cost, or of its tokens where nothing has a
// price.
func showChart(w io.Writer, days []*sum, width int) {
	slices.SortFunc(days, func(a, b *sum) int { return cmp.Compare(a.name, b.name) })
	days = days[max(0, len(days)-chartDays):]
	if len(days) < 2 {
		return
	}
	var most sum
	for _, d := range days {
		most.cost, most.tokens = max(most.cost, d.cost), max(most.tokens, d.tokens)
	}
	fmt.Fprintln(w)
	room := max(10, min(40, width-36))
	for _, d := range days {
		share := float64(d.tokens) / float64(max(1, most.tokens))
		if most.cost > 0 {
			share = d.cost / most.cost
		}
		fmt.Fprintf(w, "  %s %s %10s\n", d.name, pad(strings.Repeat("█", int(share*float64(room)+0.5)), room), d.costText())
	}
}

// showRows is a table with a line for each row.
func showRows(w io.Writer, report *wire.UsageReport, by []string, width int, shorten func(string) string) {
	if len(report.Rows) == 0 {
		fmt.Fprintln(w, "no usage on record")
		return
	}
	const numbers = 4*8 + 11
	room := max(8, (width-numbers)/len(by)-1)
	names := make([]string, len(by))
	for i, one := range by {
		names[i] = pad(strings.ToUpper(one), room)
	}
	line := func(names []string, in, out, read, written, cost string) {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%s %7s %7s %7s %7s %10s", strings.Join(names, " "), in, out, read,
			written, cost), " "))
	}
	line(names, "INPUT", "OUTPUT", "CACHE-R", "CACHE-W", "COST")
	for i := range report.Rows {
		r := &report.Rows[i]
		for j, one := range by {
			value := map[string]string{wire.ByAgent: r.Agent, wire.ByModel: r.Model, wire.ByProject: shorten(r.Project),
				wire.BySession: wire.ShortID(r.Session), wire.ByDay: r.Day}[one]
			if one == wire.ByProject && termsafe.Width(value) > room {
				value = filepath.Base(value)
			}
			names[j] = pad(cmp.Or(value, "unknown"), room)
		}
		s := sum{}
		s.add(r)
		line(names, wire.Count(r.Input), wire.Count(r.Output), wire.Count(r.CacheRead), wire.Count(r.CacheCreation), s.costText())
	}
	for j := range names {
		names[j] = pad("", room)
	}
	names[0] = pad("total", room)
	t := &report.Totals
	all := sum{tokens: t.Total(), cost: t.CostUSD, unpriced: t.UnpricedTokens}
	line(names, wire.Count(t.Input), wire.Count(t.Output), wire.Count(t.CacheRead), wire.Count(t.CacheCreation), all.costText())
}

// showNotes says what is to be known about the numbers.
func showNotes(w io.Writer, report *wire.UsageReport) {
	fmt.Fprintln(w)
	if r := report.Reading; r != nil {
		fmt.Fprintf(w, "Not complete yet: %d of %d files are read.\n", r.Files, r.Of)
	}
	if len(report.Unpriced) > 0 {
		names := make([]string, len(report.Unpriced))
		for i, one := range report.Unpriced {
			names[i] = termsafe.Line(one, 60)
		}
		fmt.Fprintf(w, "No price, so not in dollars: %s\n", strings.Join(names, ", "))
	}
	fmt.Fprintf(w, "List prices as of %s. With a subscription you don't pay them.\n", report.Prices)
}
