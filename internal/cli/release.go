package cli

import "github.com/spf13/cobra"

func (w *world) releaseCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "release ID",
		Short:   "Leave a request to the agent's own prompt",
		Example: "  hookmux release kw4m",
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			result, err := c.Release(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return w.sayOutcome(result, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {id, outcome: delivered|already|expired|unknown}")
	return cmd
}
