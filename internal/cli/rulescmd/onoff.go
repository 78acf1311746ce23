package rulescmd

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// endless has words for no end in place of a duration.
var endless = []string{"forever", "always", "permanently", "indefinitely"}

// OffCommand is `hookmux off`.
func OffCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:   "off [DURATION]",
		Short: "Turn all hooks and guards off, right now",
		Long: `Turns every hook, guard and rule off: agents behave as if hookmux weren't there. Events
are still recorded. Ends with ` + "`hookmux on`" + `, or after DURATION.`,
		Example: "  hookmux off\n  hookmux off 1h",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cmdutil.TooManyArgs(cmd, args, 1)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var p wire.OffParams
			if len(args) == 1 {
				if _, err := findGuard(args[0]); err == nil || isRule(args[0]) {
					return cmdutil.UsageError("`hookmux off` turns everything off; did you mean `hookmux guard off %s`?", args[0])
				}
				if slices.Contains(endless, args[0]) {
					return cmdutil.UsageError("without a duration, `hookmux off` lasts until `hookmux on`")
				}
				span, err := cmdutil.Span("", args[0], "30m, 1h or 2d")
				if err != nil {
					return err
				}
				p.Seconds = span.Seconds()
			}
			var off wire.Off
			if err := app.CallDaemon(cmd.Context(), wire.MethodOff, p, &off); err != nil {
				return err
			}
			if off.Until != nil {
				app.Say("hookmux is off until %s; events are still recorded", text.Moment(*off.Until, time.Now()))
			} else {
				app.Say("hookmux is off until `hookmux on`; events are still recorded")
			}
			return nil
		},
	}
}

// OnCommand is `hookmux on`.
func OnCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:     "on",
		Short:   "Turn hooks and guards on again after `hookmux off`",
		Long:    "Ends `hookmux off`: every guard, rule and hook has the mode again that it had before.",
		Example: "  hookmux on",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var result struct{ WasOff bool }
			if err := app.CallDaemon(cmd.Context(), wire.MethodOn, nil, &result); err != nil {
				return err
			}
			if result.WasOff {
				app.Say("hookmux is on again")
			} else {
				app.Say("hookmux is already on")
			}
			return nil
		},
	}
}
