package answer

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// DenyCommand is `hookmux deny`.
func DenyCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "deny [REQUEST] [REASON…]",
		Short: "Deny a request, or send a plan back with feedback",
		Long: `Denies a request; the agent reads your reason. Denying a plan has the agent plan
again, with your reason as feedback. With no REQUEST, denies the only one that's
waiting.
` + requestNames,
		Example: "  hookmux deny\n  hookmux deny kw4m\n  hookmux deny kw4m use the staging server",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, reason := "", ""
			if len(args) > 0 {
				name, reason = args[0], strings.Join(args[1:], " ")
			}
			every := func(*client.Request) bool { return true }
			ch, err := chooseRequest(cmd.Context(), app, name, every)
			if errors.As(err, new(*sessionError)) || meansAll(name) && reason == "" {
				return err
			}
			if err != nil {
				if only, none := chooseRequest(cmd.Context(), app, "", every); name != "" && none == nil && len(only.others) == 0 {
					return cmdutil.UsageError("there's no request %q; the request comes before the reason: `hookmux deny %s %s`", name,
						only.item.ID, cmdutil.QuoteWords([]string{strings.Join(args, " ")}))
				}
				if reason != "" {
					return cmdutil.UsageError("there's no request %q; the request comes before the reason: `hookmux deny REQUEST %s`", name,
						cmdutil.QuoteWords([]string{strings.Join(args, " ")}))
				}
				return err
			}
			if err := ch.onlyOne(app); err != nil {
				return err
			}
			if reason != "" && !ch.byID {
				return cmdutil.UsageError("name the request by its ID before the reason: `hookmux deny %s %s`", ch.item.ID,
					cmdutil.QuoteWords([]string{reason}))
			}
			if err := ch.answerable(""); err != nil {
				return err
			}
			reply := client.InboxReply{ID: ch.item.ID, Choice: "deny", Reason: reason}
			if ch.item.Kind == "plan" {
				reply = client.InboxReply{ID: ch.item.ID, Choice: "plan", Plan: "reject", Feedback: reason}
			}
			return sendReply(cmd.Context(), app, ch.client, reply, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {id, outcome: delivered|already|expired|unknown, by}")
	return cmd
}
