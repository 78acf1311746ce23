package cli

import (
	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
)

func (w *world) denyCommand() *cobra.Command {
	var reason string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "deny ID",
		Short:   "Say no to a request of an agent",
		Example: "  hookmux deny kw4m\n  hookmux deny kw4m --reason 'use the staging server'",
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, item, err := w.lookAt(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return w.send(cmd.Context(), c, client.FeedReply{ID: item.ID, Choice: "deny", Reason: reason}, asJSON)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the model to read")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {id, outcome: delivered|already|expired|unknown, by}")
	return cmd
}
