package see

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
)

// SendCommand is `hookmux send`.
func SendCommand(app *cmdutil.App) *cobra.Command {
	var typed bool
	cmd := &cobra.Command{
		Use:   "send SESSION TEXT",
		Short: "Send a prompt to a session",
		Long: `Sends a session its next prompt. OpenCode and pi get it through hookmux's plugin.
For other agents use --type: hookmux types the text into their tmux pane, but never
while the session is waiting for an answer.
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
			if _, err := c.Session(cmd.Context(), args[0]); err != nil {
				return err
			}
			s, err := c.SendToSession(cmd.Context(), args[0], args[1], typed)
			if client.NeedsPIN(err) {
				p := wire.SessionSendParams{Session: args[0], Text: args[1], Type: typed}
				if p.PIN, err = app.AskPIN("PIN: ", err); err == nil {
					err = c.Call(cmd.Context(), wire.MethodSessionSend, p, &s)
				}
			}
			if err != nil {
				return err
			}
			if s.Via == "pane" {
				app.Say("typed into %s (%s)", s.Session.Pane, s.Session.Agent)
			} else {
				app.Say("sent to %s through its plugin", s.Session.Agent)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&typed, "type", false, "type the text into the session's tmux pane if it has no plugin")
	return cmd
}
