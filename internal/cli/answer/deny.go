package answer

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// DenyCommand is `hookmux deny`.
func DenyCommand(app *cmdutil.App) *cobra.Command {
	var reason string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "deny [ID]",
		Short: "Say no to a request of an agent",
		Long: `Says no to the request with this id, or with part of its title; without a name to
the only one that waits. Nothing else is asked then.`,
		Example: "  hookmux deny kw4m\n  hookmux deny\n  hookmux deny kw4m --reason 'use the staging server'",
		Args:    cmdutil.OptionalArg(),
		RunE: func(cmd *cobra.Command, args []string) error {
			ch, err := chooseRequest(cmd.Context(), app, strings.Join(args, ""),
				func(*client.Request) bool { return true })
			if err != nil {
				return err
			}
			c, item := ch.client, ch.item
			if len(ch.others) > 0 {
				return cmdutil.UsageError("%d requests fit; name one by its id:\n%s", len(ch.others)+1,
					ch.listAll())
			}
			return sendReply(cmd.Context(), app, c, client.InboxReply{ID: item.ID, Choice: "deny", Reason: reason},
				asJSON)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the model to read")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {id, outcome: delivered|already|expired|unknown, by}")
	return cmd
}
