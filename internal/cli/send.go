package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

func (w *world) sendCommand() *cobra.Command {
	var typed bool
	cmd := &cobra.Command{
		Use:   "send SESSION TEXT",
		Short: "Give a session a text, through its plugin or typed into its pane",
		Long: `Gives a session a text as its next prompt. Agents with a plugin of hookmux
(OpenCode, pi) take it through that; into others it is typed, in their tmux pane,
and only when you say --type; never while the session waits for an answer, which
the text would be taken for.
` + sessionNames,
		Example: `  hookmux send %3 --type "now run the tests"`,
		Args:    exactly("SESSION", "TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return usage("the text is empty")
			}
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			s, err := c.SendToSession(cmd.Context(), args[0], args[1], typed)
			if err != nil {
				return err
			}
			if s.Via == "pane" {
				w.say("typed into %s (%s)", s.Session.Pane, s.Session.Agent)
			} else {
				w.say("given to %s through its plugin", s.Session.Agent)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&typed, "type", false, "type it into the session's tmux pane, where no plugin takes it")
	return cmd
}
