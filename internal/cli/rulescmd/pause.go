package rulescmd

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// PauseCommand is `hookmux pause`.
func PauseCommand(app *cmdutil.App) *cobra.Command {
	var end bool
	cmd := &cobra.Command{
		Use:   "pause NAME [DURATION]",
		Short: "Let a guard, a rule or a pack only log for a while",
		Long: `Lets a guard, a rule or a pack stop nothing for a while (10 minutes without a
duration, a day at most): what it would have stopped is recorded. It comes back by
itself, also when the daemon was restarted meanwhile. ` + "`hookmux status`" + ` shows the time
left, --end ends it now.`,
		Example: "  hookmux guard pause destructive 10m\n  hookmux guard pause no-push-to-main --end",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := wire.PauseParams{Name: args[0], Seconds: (10 * time.Minute).Seconds(), Cwd: app.Cwd()}
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
			var pause wire.Pause
			if err := app.CallDaemon(cmd.Context(), wire.MethodPause, p, &pause); err != nil {
				return err
			}
			if end {
				app.Say("%s counts again", pause.Name)
				return nil
			}
			app.Say("%s only logs until %s; what it would have stopped is recorded", pause.Name,
				text.Moment(pause.Until, time.Now()))
			return nil
		},
	}
	cmd.Flags().BoolVar(&end, "end", false, "end it now")
	return cmd
}
