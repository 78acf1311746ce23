package answer

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// PermissionsCommand is `hookmux permissions`.
func PermissionsCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error { return listPermissions(cmd.Context(), app, asJSON) }
	const jsonHelp = "print JSON: [{id, agent, scope, rule, reach, created, expires?, used}]"
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "List what agents may do without asking you again",
		Long: "Lists the permissions you saved with `hookmux approve --always` and --session.\n" +
			"A permission never overrides a guard, rule or hook that denies.",
		Example: "  hookmux permissions\n  hookmux permissions remove gx4mk",
		Args:    cmdutil.SubcommandArgs,
		RunE:    list,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, jsonHelp)
	listCommand := &cobra.Command{
		Use: "list", Short: "List saved permissions", Example: "  hookmux permissions list --json",
		Args: cmdutil.ExactArgs(), RunE: list,
	}
	listCommand.Flags().BoolVar(&asJSON, "json", false, jsonHelp)
	remove := &cobra.Command{
		Use: "remove ID", Short: "Remove a saved permission, so that you're asked again",
		Example: "  hookmux permissions remove gx4mk",
		Args:    cmdutil.ExactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := app.ConnectDaemon(cmd.Context())
			if err != nil {
				return err
			}
			gone, err := c.Revoke(cmd.Context(), args[0])
			var answer *wire.Error
			if errors.As(err, &answer) && answer.Code == wire.CodeGone {
				return unknownPermission(cmd.Context(), c, args[0])
			}
			if err != nil {
				return err
			}
			app.Say("removed: %s (%s)", termsafe.Line(gone.Rule, 0), termsafe.Line(gone.Reach, 0))
			return nil
		},
	}
	cmd.AddCommand(listCommand, remove)
	return cmd
}

func listPermissions(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	c, err := app.ReadDaemon(ctx)
	if err != nil {
		return err
	}
	permissions, err := c.Permissions(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(permissions)
	}
	if len(permissions) == 0 {
		app.Say("no saved permissions; `hookmux approve --always` saves one")
		return nil
	}
	rows := [][]string{{"ID", "USED", "ALLOWS"}}
	for _, p := range permissions {
		rows = append(rows, []string{p.ID, strconv.FormatUint(p.Used, 10), termsafe.Line(p.Rule, 0) + "; " +
			termsafe.Line(app.Shorten(p.Reach), 0)})
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}

// unknownPermission returns the error for an ID that no permission has. Only the daemon
// knows that: it shows an agent a part of the list, and rejects and records an agent's
// attempt to remove any of it.
func unknownPermission(ctx context.Context, c *client.Client, id string) error {
	list, err := c.Permissions(ctx)
	if err != nil {
		return err
	}
	var known []string
	for _, p := range list {
		known = append(known, p.ID)
	}
	return cmdutil.UnknownName("permission", id, known, "hookmux permissions")
}
