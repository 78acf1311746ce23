package see

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/audit"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// queryFleet calls each with events of the fleet's journal, oldest first, as
// [client.Client.Search] does with those of this machine's.
func queryFleet(ctx context.Context, app *cmdutil.App, host string, q wire.QueryParams, each func(client.Entry) bool) error {
	if q.Session != "" {
		if c, err := askDaemon(ctx, app); err == nil && c != nil {
			if _, named := wire.SplitHost(q.Session); named == q.Session && host != cmdutil.AllHosts {
				q.Session = wire.OnHost(host, q.Session)
			}
			_, q.Session = wire.SplitHost(wholeID(ctx, c, q.Session))
		}
	}
	read := func(ctx context.Context, q wire.QueryParams) (page wire.QueryResult, err error) {
		return page, app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
			return c.Call(ctx, wire.MethodFleetLog, wire.FleetLogParams{Host: cmdutil.FleetHost(host), QueryParams: q}, &page)
		})
	}
	if q.Newest {
		return newestStored(ctx, read, q, each)
	}
	return eachStored(ctx, read, q, each)
}

// hostColumn returns the machine of an event, in front of its line.
func hostColumn(e *client.Entry) string {
	var ev event.Event
	_ = json.Unmarshal(e.Event, &ev) // the line itself says what's wrong with it
	return fmt.Sprintf("%-12s ", termsafe.Line(ev.Where.Host, 12))
}

// fleetRecord returns an event of the fleet's journal as the audit trail of its machine has it,
// without its place in that machine's chain. It is false for events that no trail has.
func fleetRecord(e *client.Entry) (audit.Record, bool) {
	var ev event.Event
	if json.Unmarshal(e.Event, &ev) != nil || ev.Agent == wire.OwnAgent && ev.Native == wire.OwnUsage {
		return audit.Record{}, false
	}
	r := audit.Record{Type: audit.TypeNote, Time: ev.Time.UTC(), Host: ev.Where.Host, Event: &audit.Event{ID: ev.ID, Time: ev.Time,
		Agent: ev.Agent, Kind: string(ev.Kind), Native: ev.Native, Session: ev.Session, Cwd: ev.Cwd}}
	if ev.Tool != nil {
		r.Event.Tool = ev.Tool.Name
	}
	o := e.Outcome
	if o == nil {
		if ev.Agent != wire.OwnAgent || ev.Native == wire.OwnHook {
			return r, false
		}
		r.Note = ev.Raw
		return r, true
	}
	var d event.Decision
	_ = d.UnmarshalJSON(o.Decision) // what can't be read is in the record as it is
	r.Type, r.Time, r.Verdict, r.By, r.Reason = audit.TypeDecision, o.Time.UTC(), d.Verdict.Word(), d.By, d.Reason
	r.Neutral, r.TookUS, r.Decision = o.Neutral, o.TookUS, o.Decision
	if o.Inbox != nil {
		r.Asked = o.Inbox.End
	}
	return r, true
}
