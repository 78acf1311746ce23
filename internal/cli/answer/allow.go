package answer

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// AllowCommand is `hookmux permissions`.
func AllowCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "allow",
		Short: "Saved permissions: what agents may do without asking you again",
		Long: "Permissions come from `hookmux approve ID --always` and --all. They never beat a guard\nor hook that " +
			"denies.",
		Example: "  hookmux permissions list\n  hookmux permissions remove gx4mk",
		Args:    cmdutil.SubcommandArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "All permissions, with their exact reach", Example: "  hookmux permissions list --json",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := app.ReadDaemon(cmd.Context())
			if err != nil {
				return err
			}
			permissions, err := c.Permissions(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(permissions)
			}
			if len(permissions) == 0 {
				app.Say("no saved permissions")
			}
			var rows [][]string
			for _, g := range permissions {
				used := fmt.Sprintf("used %d times since the daemon started", g.Used)
				rows = append(rows, []string{g.ID, termsafe.Line(g.Reach, 0), termsafe.Line(g.Rule, 0), used})
			}
			text.Table(app.Stdout, rows, app.Columns())
			return nil
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "for programs: [{id, agent, scope, rule, reach, created, expires?, "+
		"used}]")
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "Take a permission back", Example: "  hookmux permissions remove gx4mk",
		Args: cmdutil.ExactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := app.ConnectDaemon(cmd.Context())
			if err != nil {
				return err
			}
			gone, err := c.Revoke(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			app.Say("no longer allowed: %s (%s)", termsafe.Line(gone.Rule, 0), termsafe.Line(gone.Reach, 0))
			return nil
		},
	}
	cmd.AddCommand(list, revoke)
	return cmd
}
