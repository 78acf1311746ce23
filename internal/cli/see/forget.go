package see

import (
	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// ForgetCommand is `hookmux forget`.
func ForgetCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:    "forget SESSION",
		Hidden: true,
		Short:  "Remove a session from the list and forget how to resume it",
		Long: `Removes a session from ps and deletes how to resume it. The agent's own files and
the journal stay. If the session reports again, it's listed again.
` + cmdutil.SessionNames,
		Example: "  hookmux forget 0199a1",
		Args:    cmdutil.ExactArgs("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := app.ConnectDaemon(cmd.Context())
			if err != nil {
				return err
			}
			if _, err := c.Session(cmd.Context(), args[0]); err != nil { // before the terminal is checked
				return err
			}
			s, err := c.ForgetSession(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			app.Say("forgot %s %s", s.Agent, termsafe.Line(s.ID, 80))
			return nil
		},
	}
}
