package cmdutil

import (
	"context"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// HostFlag is the help of --host.
const HostFlag = "only this machine, named as in hookmux remote list; here is this one"

// CheckHost refuses a machine that there isn't.
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
	known := []string{text.ThisMachine}
	for _, one := range list {
		if one.Name == name {
			return nil
		}
		known = append(known, one.Name)
	}
	return UnknownName("host", name, known, "hookmux remote list")
}

// OnHost reports whether something on a machine, "" for this one, is wanted by --host.
func OnHost(wanted, host string) bool {
	return wanted == "" || wanted == host || wanted == text.ThisMachine && host == ""
}
