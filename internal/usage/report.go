package usage

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// Report adds up the calls since a moment, in groups.
func (s *Store) Report(ctx context.Context, by []string, since time.Time) (wire.UsageReport, error) {
	prices := s.prices()
	report := wire.UsageReport{Rows: []wire.UsageRow{}, Unpriced: []string{}, Prices: prices.Date}
	rows := map[wire.UsageGroup]*wire.UsageRow{}
	unpriced := map[string]bool{}
	err := s.Each(ctx, since, func(c *Call) {
		var group wire.UsageGroup
		for _, field := range by {
			switch field {
			case wire.ByAgent:
				group.Agent = c.Agent
			case wire.ByModel:
				group.Model = cmp.Or(c.Model, unknownModel)
			case wire.ByProject:
				group.Project = c.Project
			case wire.BySession:
				group.Agent, group.Session = c.Agent, c.Session
			case wire.ByDay:
				group.Day = dayOf(c.At)
			}
		}
		row := rows[group]
		if row == nil {
			row = &wire.UsageRow{UsageGroup: group}
			rows[group] = row
		}
		used := wire.UsageTokens{Input: c.Tokens.Input, Output: c.Tokens.Output, CacheRead: c.Tokens.CacheRead,
			CacheCreation: c.Tokens.CacheWrite + c.Tokens.CacheWrite1h}
		row.UsageTokens.Add(used)
		report.Totals.UsageTokens.Add(used)
		cost, ok := prices.Cost(c)
		if !ok {
			row.UnpricedTokens += c.Tokens.Total()
			report.Totals.UnpricedTokens += c.Tokens.Total()
			unpriced[cmp.Or(c.Model, unknownModel)] = true
			return
		}
		report.Totals.CostUSD += cost
		if row.CostUSD == nil {
			row.CostUSD = new(float64)
		}
		*row.CostUSD += cost
	})
	if err != nil {
		return report, err
	}
	report.Totals.CostUSD = wire.RoundUSD(report.Totals.CostUSD)
	for _, row := range rows {
		if row.CostUSD != nil {
			*row.CostUSD = wire.RoundUSD(*row.CostUSD)
		}
		report.Rows = append(report.Rows, *row)
	}
	slices.SortFunc(report.Rows, func(a, b wire.UsageRow) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), -cmp.Compare(costOf(a), costOf(b)), -cmp.Compare(a.Total(), b.Total()),
			cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Project, b.Project),
			cmp.Compare(a.Session, b.Session))
	})
	for model := range unpriced {
		report.Unpriced = append(report.Unpriced, model)
	}
	slices.Sort(report.Unpriced)
	return report, nil
}

// unknownModel is the name of a model that an agent doesn't name.
const unknownModel = "unknown"

func costOf(r wire.UsageRow) float64 {
	if r.CostUSD == nil {
		return 0
	}
	return *r.CostUSD
}
