package answer

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// SkipCommand is `hookmux skip`.
func SkipCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "skip [REQUEST]",
		Short: "Hand a request back to the agent's own prompt",
		Long: `Hands a request back without an answer: the agent shows its own prompt, or the hook
that asked continues. With no REQUEST, skips the only one that's waiting.
` + requestNames,
		Example: "  hookmux skip kw4m",
		Args:    cmdutil.OptionalArg(),
		RunE: func(cmd *cobra.Command, args []string) error {
			ch, err := chooseRequest(cmd.Context(), app, strings.Join(args, ""),
				func(*client.Request) bool { return true })
			if err != nil {
				return err
			}
			if err := ch.onlyOne(app); err != nil {
				return err
			}
			result, err := ch.client.Skip(cmd.Context(), ch.item.ID)
			if err != nil {
				return err
			}
			return sayOutcome(app, result, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {id, outcome: delivered|already|expired|unknown}")
	return cmd
}
