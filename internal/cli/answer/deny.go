package answer

import (
	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// DenyCommand is `hookmux deny`.
func DenyCommand(app *cmdutil.App) *cobra.Command {
	var reason string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "deny ID",
		Short:   "Say no to a request of an agent",
		Example: "  hookmux deny kw4m\n  hookmux deny kw4m --reason 'use the staging server'",
		Args:    cmdutil.ExactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, item, err := findRequest(cmd.Context(), app, args[0])
			if err != nil {
				return err
			}
			return sendReply(cmd.Context(), app, c, client.FeedReply{ID: item.ID, Choice: "deny", Reason: reason}, asJSON)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the model to read")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {id, outcome: delivered|already|expired|unknown, by}")
	return cmd
}
