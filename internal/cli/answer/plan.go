package answer

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
)

// PlanCommand is `hookmux plan`.
func PlanCommand(app *cmdutil.App) *cobra.Command {
	var feedback string
	var asJSON bool
	modes := []string{"accept", "auto", "manual", "reject"}
	cmd := &cobra.Command{
		Use:   "plan ID accept|auto|manual|reject",
		Short: "Accept or reject an agent's plan",
		Long: `accept lets the agent go on as before it planned, auto without asking about
edits, manual asking about each; reject has it plan again, with your feedback.`,
		Example: "  hookmux plan kw4m accept\n  hookmux plan kw4m reject --feedback 'smaller steps, tests first'",
		Args:    cmdutil.ExactArgs("ID", "accept, auto, manual or reject"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(modes, args[1]) {
				return cmdutil.UsageError("%q is none of %s", args[1], strings.Join(modes, ", "))
			}
			c, item, err := findRequest(cmd.Context(), app, args[0])
			if err != nil {
				return err
			}
			if item.Status == wire.InboxPending && item.Kind != "plan" {
				return cmdutil.UsageError("%s is not a plan; `hookmux inbox` shows how to answer it", item.ID)
			}
			return sendReply(cmd.Context(), app, c,
				client.InboxReply{ID: item.ID, Choice: "plan", Plan: args[1], Feedback: feedback, SHA256: item.SHA256},
				asJSON)
		},
	}
	cmd.Flags().StringVar(&feedback, "feedback", "", "what you want different, for the model to read")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {id, outcome: delivered|already|expired|unknown, by}")
	return cmd
}
