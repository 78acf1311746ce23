package cli

import (
	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/termsafe"
)

func (w *world) forgetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "forget SESSION",
		Short: "Take a session out of the list and forget how to resume it",
		Long: `Takes a session out of ps and deletes how it is taken up again. The agent's own
files stay as they are, and so does the journal; if the session reports again, it
is listed again.
` + sessionNames,
		Example: "  hookmux forget 0199a1",
		Args:    exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			s, err := c.ForgetSession(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			w.say("forgot %s %s", s.Agent, termsafe.Line(s.ID, 80))
			return nil
		},
	}
}
