package rulescmd

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// NapCommand is `hookmux nap`.
func NapCommand(app *cmdutil.App) *cobra.Command {
	var end bool
	cmd := &cobra.Command{
		Use:   "nap NAME [DURATION]",
		Short: "Let a guard, a rule or a pack only monitor for a while",
		Long: `Lets a guard, a rule or a pack stop nothing for a while (10 minutes without a
duration, a day at most): what it would have stopped is recorded. It comes back by
itself, also when the hub was restarted meanwhile. ` + "`hookmux status`" + ` shows the time
left, --end ends it now.`,
		Example: "  hookmux nap destructive 10m\n  hookmux nap no-push-to-main --end",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := wire.NapParams{Name: args[0], Seconds: (10 * time.Minute).Seconds(), Cwd: app.Cwd()}
			if len(args) == 2 {
				if end {
					return cmdutil.UsageError("--end takes no duration")
				}
				span, err := config.ParseSpan(args[1])
				if err != nil || span <= 0 {
					return cmdutil.UsageError("%q is not a time span; write 10m or 1h", args[1])
				}
				p.Seconds = span.Seconds()
			}
			if end {
				p.Seconds = 0
			}
			var nap wire.Nap
			if err := app.CallHub(cmd.Context(), wire.MethodNap, p, &nap); err != nil {
				return err
			}
			if end {
				app.Say("%s counts again", nap.Name)
				return nil
			}
			app.Say("%s only monitors until %s; what it would have stopped is recorded", nap.Name,
				text.Moment(nap.Until, time.Now()))
			return nil
		},
	}
	cmd.Flags().BoolVar(&end, "end", false, "end it now")
	return cmd
}
