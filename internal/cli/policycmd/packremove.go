package policycmd

import (
	"fmt"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

func packRemove(app *cmdutil.App) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Forget a pack: its rules count no more", Example: "  hookmux rules remove team",
		Args: cmdutil.ExactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := app.ConfirmByCode(fmt.Sprintf("Remove the pack %s and its rules?", args[0]), yes); err != nil {
				return err
			}
			var done wire.PackResult
			err := app.CallDaemon(cmd.Context(), wire.MethodPackDrop, wire.PackDropParams{Name: args[0]}, &done)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(done)
			}
			app.Say("pack %s is removed", done.Name)
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}
