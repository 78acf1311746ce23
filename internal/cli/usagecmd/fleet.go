package usagecmd

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
)

// fleetReport returns the report of another machine, or with "all" of every one, from the
// fleet's journal.
func fleetReport(ctx context.Context, app *cmdutil.App, host string, p wire.UsageParams) (report wire.UsageReport, err error) {
	if slices.Contains(p.By, wire.BySession) {
		return report, cmdutil.UsageError("--by session is for this machine only; leave out --host")
	}
	q := wire.QueryParams{Filter: wire.Filter{Agents: []string{wire.OwnAgent}, Kinds: []string{wire.OwnUsage}}}
	from := ""
	if !p.Since.IsZero() {
		q.Since = p.Since.AddDate(0, 0, -1) // days begin elsewhere at another time
		from = p.Since.Format(time.DateOnly)
	}
	report = wire.UsageReport{Rows: []wire.UsageRow{}, Unpriced: []string{}}
	rows := map[wire.UsageGroup]*wire.UsageRow{}
	unpriced := map[string]bool{}
	err = app.EachFleetEvent(ctx, host, q, func(e client.Entry) bool {
		var ev event.Event
		var list []wire.UsageRow
		if json.Unmarshal(e.Event, &ev) != nil || e.Outcome == nil || json.Unmarshal(e.Outcome.Decision, &list) != nil {
			return true
		}
		for i := range list {
			if list[i].Day >= from {
				addUsage(rows, &report.Totals, &list[i], p.By, unpriced)
			}
		}
		return true
	})
	for _, row := range rows {
		report.Rows = append(report.Rows, *row)
	}
	slices.SortFunc(report.Rows, func(a, b wire.UsageRow) int {
		return strings.Compare(a.Day+a.Agent+a.Model+a.Project, b.Day+b.Agent+b.Model+b.Project)
	})
	for model := range unpriced {
		report.Unpriced = append(report.Unpriced, model)
	}
	slices.Sort(report.Unpriced)
	return report, err
}

// addUsage adds a row to those of its group, and to the totals.
func addUsage(rows map[wire.UsageGroup]*wire.UsageRow, totals *wire.UsageTotals, one *wire.UsageRow, by []string, unpriced map[string]bool) {
	var group wire.UsageGroup
	for _, field := range by {
		switch field {
		case wire.ByAgent:
			group.Agent = one.Agent
		case wire.ByModel:
			group.Model = one.Model
		case wire.ByProject:
			group.Project = one.Project
		case wire.ByDay:
			group.Day = one.Day
		}
	}
	row := rows[group]
	if row == nil {
		row = &wire.UsageRow{UsageGroup: group}
		rows[group] = row
	}
	row.UsageTokens.Add(one.UsageTokens)
	totals.UsageTokens.Add(one.UsageTokens)
	row.UnpricedTokens += one.UnpricedTokens
	totals.UnpricedTokens += one.UnpricedTokens
	if one.UnpricedTokens > 0 {
		unpriced[one.Model] = true
	}
	if one.CostUSD != nil {
		if row.CostUSD == nil {
			row.CostUSD = new(float64)
		}
		*row.CostUSD += *one.CostUSD
		totals.CostUSD += *one.CostUSD
	}
}
