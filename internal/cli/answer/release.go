package answer

import (
	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// ReleaseCommand is `hookmux skip`.
func ReleaseCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "release ID",
		Short:   "Leave a request to the agent's own prompt, or to the hook that asked",
		Example: "  hookmux skip kw4m",
		Args:    cmdutil.ExactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := app.ReadDaemon(cmd.Context())
			if err != nil {
				return err
			}
			result, err := c.Release(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return sayOutcome(app, result, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {id, outcome: delivered|already|expired|unknown}")
	return cmd
}
