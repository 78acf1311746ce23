package usagecmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

func limitsCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show how much of your plans' windows is used, and when they reset",
		Long: `Shows the 5-hour and weekly windows of plans. Codex writes them into its records.
Claude Code gives them to its status line only, which ` + "`hookmux usage statusline`" + ` can be.`,
		Example: "  hookmux usage limits\n  hookmux usage limits --json",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var limits wire.UsageLimits
			if err := app.CallDaemon(cmd.Context(), wire.MethodUsageLimits, nil, &limits); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(limits)
			}
			now := time.Now()
			for _, w := range limits.Windows {
				resets := "reset time unknown"
				if w.Resets != nil {
					resets = "resets " + text.Moment(*w.Resets, now)
				}
				filled := int(min(100, w.Used)/5 + 0.5)
				fmt.Fprintf(app.Stdout, "%s %4s  %s%s %4.0f%%  %s\n", pad(w.Agent, 10), termsafe.Line(w.Window, 6),
					strings.Repeat("█", filled), strings.Repeat("░", 20-filled), w.Used, resets)
			}
			for _, name := range limits.Unknown {
				hint := "its records don't say"
				if a, ok := agent.Builtin().Agent(name); ok && a.Usage != nil && a.Usage.StatusLine != "" {
					hint = "run `hookmux usage statusline install` to find out"
				}
				fmt.Fprintf(app.Stdout, "%s unknown: %s\n", pad(name, 10), hint)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {windows: [{agent, window, usedPercent, resets, plan, learned}], unknown}")
	return cmd
}
