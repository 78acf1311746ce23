package see

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// StatsCommand is `hookmux status --hooks`.
func StatsCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "What each hook costs per call",
		Long:    "Calls, failures and times of each hook since the daemon started, the most expensive first.",
		Example: "  hookmux status --hooks\n  hookmux status --hooks --json",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := app.ReadDaemon(cmd.Context())
			if err != nil {
				return err
			}
			list := []wire.HookStat{}
			if err := c.Call(cmd.Context(), wire.MethodStats, nil, &list); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(list)
			}
			if len(list) == 0 {
				app.Say("no hook has run since the daemon started")
				return nil
			}
			rows := [][]string{{"HOOK", "CALLS", "MEAN", "P95", "MAX", "DENIED", "FAILED", "LAST FAILURE"}}
			for _, s := range list {
				rows = append(rows, []string{termsafe.Line(s.Hook, 40), fmt.Sprint(s.Calls),
					formatMicroseconds(s.MeanUS), formatMicroseconds(s.P95US), formatMicroseconds(s.MaxUS),
					fmt.Sprint(s.Denied), fmt.Sprint(s.Failures), termsafe.Line(s.LastErr, 100)})
			}
			text.Table(app.Stdout, rows, app.Columns())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func formatMicroseconds(us float64) string {
	d := time.Duration(us * float64(time.Microsecond))
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.1fµs", us)
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}
