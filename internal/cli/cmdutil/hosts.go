package cmdutil

import (
	"context"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// HostFlag is the help of --host.
const HostFlag = "only this machine, by its name in the HOST column; here is this one"

// AllHosts is the value of --host that means every machine of the fleet, or every remote host.
const AllHosts = "all"

// FleetHost returns the machine that --host names, as the fleet's journal is asked for it.
func FleetHost(name string) string {
	if name == AllHosts {
		return ""
	}
	return name
}

// EachFleetEvent calls each with events of the fleet's journal, oldest first.
func (app *App) EachFleetEvent(ctx context.Context, host string, q wire.QueryParams, each func(client.Entry) bool) error {
	p := wire.FleetLogParams{Host: FleetHost(host), QueryParams: q}
	for {
		var page wire.QueryResult
		if err := app.CallDaemon(ctx, wire.MethodFleetLog, p, &page); err != nil {
			return err
		}
		for _, e := range page.Entries {
			if !each(e) {
				return nil
			}
		}
		if page.Next == "" {
			return nil
		}
		p.After = page.Next
	}
}

// CheckHost rejects a machine that doesn't exist.
func (app *App) CheckHost(ctx context.Context, name string) error {
	if name == "" || name == text.ThisMachine {
		return nil
	}
	var list []wire.Host
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Call(ctx, wire.MethodHosts, nil, &list)
	}); err != nil {
		return err
	}
	known, lists := []string{text.ThisMachine}, "hookmux remote list"
	for _, one := range list {
		if one.Name == name {
			return nil
		}
		known = append(known, one.Name)
		if one.Kind == wire.HostFleet {
			lists = "hookmux fleet list"
		}
	}
	return UnknownName("host", name, known, lists)
}

// OnHost reports whether something on a machine, "" for this one, is wanted by --host.
func OnHost(wanted, host string) bool {
	return wanted == "" || wanted == host || wanted == text.ThisMachine && host == ""
}
