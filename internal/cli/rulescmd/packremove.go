package rulescmd

import (
	"fmt"
	"slices"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

// RemoveCommand is `hookmux rules remove`.
func RemoveCommand(app *cmdutil.App) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove a pack of rules", Example: "  hookmux rules remove team",
		Args: cmdutil.ExactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list, _, err := listed(app); err == nil && slices.ContainsFunc(list, func(r ListedRule) bool { return r.ID == args[0] }) {
				return cmdutil.UsageError("%s is a rule; delete it from its file (`hookmux rules show %[1]s` names it), or run `hookmux rules off %[1]s`", args[0])
			}
			store, err := openStore(app)
			if err != nil {
				return err
			}
			if _, err := findKept(app, store, args[0]); err != nil {
				return err
			}
			if err := app.ConfirmByCode(fmt.Sprintf("Remove the pack %s and its rules?", args[0]), yes); err != nil {
				return err
			}
			var done wire.PackResult
			err = app.CallDaemon(cmd.Context(), wire.MethodPackDrop, wire.PackDropParams{Name: args[0]}, &done)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(done)
			}
			app.Say("removed pack %s", done.Name)
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
