package see

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// SendCommand is `hookmux send`.
func SendCommand(app *cmdutil.App) *cobra.Command {
	var typed bool
	cmd := &cobra.Command{
		Use:   "send SESSION TEXT",
		Short: "Give a session a text, through its plugin or typed into its pane",
		Long: `Gives a session a text as its next prompt. Agents with a plugin of hookmux
(OpenCode, pi) take it through that; into others it is typed, in their tmux pane,
and only when you say --type; never while the session waits for an answer, which
the text would be taken for.
` + cmdutil.SessionNames,
		Example: `  hookmux send %3 --type "now run the tests"`,
		Args:    cmdutil.ExactArgs("SESSION", "TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return cmdutil.UsageError("the text is empty")
			}
			c, err := app.ConnectDaemon(cmd.Context())
			if err != nil {
				return err
			}
			s, err := c.SendToSession(cmd.Context(), args[0], args[1], typed)
			if err != nil {
				return err
			}
			if s.Via == "pane" {
				app.Say("typed into %s (%s)", s.Session.Pane, s.Session.Agent)
			} else {
				app.Say("given to %s through its plugin", s.Session.Agent)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&typed, "type", false, "type it into the session's tmux pane, where no plugin takes it")
	return cmd
}
