package remote

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
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
	days := protocol.UsageByDay(&report)
	for _, day := range slices.Sorted(maps.Keys(days)) {
		e, err := protocol.UsageEvent(day, days[day], time.Now())
		if err != nil {
			return nil, wire.Errorf(wire.CodeRefused, "%s names a day that isn't one: %v", l.host.Name, err)
		}
		one := e.Stored()
		one.ID, one.Host = l.host.Name+protocol.IDMark+one.ID, l.host.Name
		one.Outcome.ID = one.ID
		rows = append(rows, one)
	}
	return rows, nil
}
