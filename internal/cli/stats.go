package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

func (w *world) statsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "What each hook costs per call",
		Long:    "Calls, failures and times of each hook since the hub began, dearest in total first.",
		Example: "  hookmux stats\n  hookmux stats --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			list := []wire.HookStat{}
			if err := c.Call(cmd.Context(), wire.MethodStats, nil, &list); err != nil {
				return err
			}
			if asJSON {
				return w.printJSON(list)
			}
			if len(list) == 0 {
				w.say("no hook has run since the hub began")
				return nil
			}
			rows := [][]string{{"HOOK", "CALLS", "MEAN", "P95", "MAX", "DENIED", "FAILED", "LAST FAILURE"}}
			for _, s := range list {
				rows = append(rows, []string{termsafe.Line(s.Hook, 40), fmt.Sprint(s.Calls), span(s.MeanUS), span(s.P95US), span(s.MaxUS), fmt.Sprint(s.Denied), fmt.Sprint(s.Failures), termsafe.Line(s.LastErr, 100)})
			}
			text.Table(w.stdout, rows)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func span(us float64) string {
	d := time.Duration(us * float64(time.Microsecond))
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.1fµs", us)
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}
