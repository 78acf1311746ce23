package webcmd

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

func devicesCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error { return listDevices(cmd.Context(), app, asJSON) }
	cmd := &cobra.Command{
		Use: "devices", Short: "List the paired devices, and change or remove them",
		Long: `Lists the phones and browsers that you paired, with when and where each was last used.
A device is named by its ID, the beginning of it, or its name.`,
		Example: "  hookmux web devices\n  hookmux web devices remove 4f2a\n  hookmux web devices scope 4f2a read",
		Args:    cmdutil.ExactArgs(), RunE: list,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	listed := &cobra.Command{Use: "list", Short: "List the paired devices", Example: "  hookmux web devices list --json",
		Args: cmdutil.ExactArgs(), RunE: list}
	listed.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(listed,
		&cobra.Command{
			Use: "rename ID NAME", Short: "Give a device another name", Example: "  hookmux web devices rename 4f2a pocket",
			Args: cmdutil.ExactArgs("ID", "NAME"),
			RunE: func(cmd *cobra.Command, args []string) error {
				one, err := changeDevice(cmd.Context(), app, wire.MethodWebDeviceRename,
					wire.WebDeviceParams{Device: args[0], Name: args[1]})
				if err == nil {
					app.Say("%s is now called %s", one.ID, one.Name)
				}
				return err
			},
		},
		&cobra.Command{
			Use: "remove ID", Short: "Remove a device; pages it has open end at once", Example: "  hookmux web devices remove 4f2a",
			Args: cmdutil.ExactArgs("ID"),
			RunE: func(cmd *cobra.Command, args []string) error {
				one, err := changeDevice(cmd.Context(), app, wire.MethodWebDeviceRemove, wire.WebDeviceParams{Device: args[0]})
				if err == nil {
					app.Say("removed: %s (%s)", one.Name, one.ID)
				}
				return err
			},
		},
		&cobra.Command{
			Use: "scope ID read|answer", Short: "Set whether a device may answer or only watch",
			Example: "  hookmux web devices scope 4f2a read", Args: cmdutil.ExactArgs("ID", "read|answer"),
			RunE: func(cmd *cobra.Command, args []string) error {
				if args[1] != wire.ScopeRead && args[1] != wire.ScopeAnswer {
					return cmdutil.UnknownName("scope", args[1], []string{wire.ScopeRead, wire.ScopeAnswer}, "")
				}
				one, err := changeDevice(cmd.Context(), app, wire.MethodWebDeviceScope,
					wire.WebDeviceParams{Device: args[0], Scope: args[1]})
				if err == nil {
					app.Say("%s may now %s", one.Name, one.Scope)
				}
				return err
			},
		})
	return cmd
}

func changeDevice(ctx context.Context, app *cmdutil.App, method string, p wire.WebDeviceParams) (one wire.WebDevice, err error) {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return one, err
	}
	var list []wire.WebDevice
	if err := c.Call(ctx, wire.MethodWebDevices, nil, &list); err != nil {
		return one, err
	}
	var known []string
	for _, d := range list {
		known = append(known, d.ID, d.Name)
	}
	if !slices.ContainsFunc(known, func(name string) bool {
		return name == p.Device || p.Device != "" && strings.HasPrefix(name, p.Device)
	}) {
		return one, cmdutil.UnknownName("device", p.Device, known, "hookmux web devices")
	}
	err = c.Call(ctx, method, p, &one)
	return one, err
}

func listDevices(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	var list []wire.WebDevice
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Call(ctx, wire.MethodWebDevices, nil, &list)
	}); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(list)
	}
	if len(list) == 0 {
		app.Say("no device is paired; `hookmux web pair` pairs one")
		return nil
	}
	rows := [][]string{{"ID", "NAME", "MAY", "LAST USED", "FROM", "PAIRED"}}
	for _, one := range list {
		used := "never"
		switch {
		case one.Pages > 0:
			used = "now"
		case !one.Used.IsZero():
			used = text.Moment(one.Used, time.Now())
		}
		rows = append(rows, []string{one.ID, one.Name, one.Scope, used, strings.TrimSpace(one.Browser + " " + one.Address),
			text.Moment(one.Paired, time.Now())})
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}
