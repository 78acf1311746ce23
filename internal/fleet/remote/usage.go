package remote

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// readUsage asks a host, or with "" each of them, what its agents used, and returns that as the
// fleet's journal has it: one event for each day of a machine. Nothing of it is kept here.
func (c *Connector) readUsage(ctx context.Context, host string, since time.Time) (rows []journal.Stored, bad *wire.Error) {
	c.mu.Lock()
	names := slices.Sorted(maps.Keys(c.links))
	links := maps.Clone(c.links)
	c.mu.Unlock()
	for _, name := range names {
		if host != "" && host != name {
			continue
		}
		days, bad := links[name].usage(ctx, since)
		if bad != nil {
			return nil, bad
		}
		rows = append(rows, days...)
	}
	return rows, nil
}

// usage asks the machine what its agents used, by day.
func (l *link) usage(ctx context.Context, since time.Time) (rows []journal.Stored, bad *wire.Error) {
	var report wire.UsageReport
	if bad := l.ask(ctx, wire.MethodUsage, wire.UsageParams{By: []string{wire.ByAgent, wire.ByModel, wire.ByProject, wire.ByDay},
		Since: since}, &report); bad != nil {
		return nil, bad
	}
	switch {
	case report.Reading != nil:
		return nil, wire.Errorf(wire.CodeConflict, "%s still reads what its agents recorded; ask again in a moment", l.host.Name)
	case report.Problem != "":
		return nil, wire.Errorf(wire.CodeConflict, "%s: %s", l.host.Name, report.Problem)
	}
	days := map[string][]wire.UsageRow{}
	for _, row := range report.Rows {
		days[row.Day] = append(days[row.Day], row)
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		begins, err := time.ParseInLocation(time.DateOnly, day, time.Local)
		if err != nil {
			return nil, wire.Errorf(wire.CodeRefused, "%s names %.20q as a day", l.host.Name, day)
		}
		used, err := json.Marshal(days[day])
		if err != nil {
			return nil, wire.Errorf(wire.CodeInternal, "%v", err)
		}
		id, now := l.host.Name+idMark+wire.OwnUsage+"-"+day, time.Now()
		decision, err := json.Marshal(wire.Outcome{ID: id, Agent: wire.OwnAgent, Time: now, Decision: used})
		if err != nil {
			return nil, wire.Errorf(wire.CodeInternal, "%v", err)
		}
		rows = append(rows, journal.Stored{
			Row: journal.Row{ID: id, Time: begins, Agent: wire.OwnAgent, Kind: string(event.Other), Native: wire.OwnUsage,
				Host: l.host.Name, Body: []byte("{}")},
			Outcome: &journal.Outcome{ID: id, Time: now, Verdict: "none", Decision: decision}})
	}
	return rows, nil
}
