package usagecmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install/statusline"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

func limitsCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show how much of your plans' windows is used, and when they reset",
		Long: `Shows the 5-hour and weekly windows of plans. Codex records them.
Claude Code reports them only to its status line: ` + "`hookmux usage statusline install`" + `
puts hookmux there and keeps showing your own.`,
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
				const room = 20
				fmt.Fprintf(app.Stdout, "%s %4s  %s  %3.0f%% used, %s\n", pad(w.Agent, 8), termsafe.Line(w.Window, 6),
					trough(w.Used/100, room), w.Used, resetsText(&w, now))
			}
			for _, name := range limits.Unknown {
				hint := "its records don't say"
				if a, ok := agent.Builtin().Agent(name); ok && a.Usage != nil && a.Usage.StatusLine != "" {
					hint = "run `hookmux usage statusline install` to find out"
					if isStatusLine(app, a) {
						hint = "its status line hasn't told them yet; without a subscription it never does"
					}
				}
				fmt.Fprintf(app.Stdout, "%s unknown: %s\n", pad(name, 8), hint)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {windows: [{agent, window, usedPercent, resets, plan, learned}], unknown}")
	return cmd
}

// isStatusLine reports whether hookmux is the agent's status line.
func isStatusLine(app *cmdutil.App, a *agent.Agent) bool {
	return slices.ContainsFunc(agents.StatusLineFiles(app, []*agent.Agent{a}), func(path string) bool {
		settings, err := userfile.ReadFile(path, userfile.MaxFile)
		return err == nil && statusline.Has(settings)
	})
}

// trough returns a bar in what it can fill.
func trough(share float64, room int) string {
	filled := bar(min(1, share), room)
	return filled + strings.Repeat("░", room-termsafe.Width(filled))
}

// staleAfter is when it's worth saying how old a window's number is.
const staleAfter = 10 * time.Minute

// resetsText says when a window starts over, and how old what's known of it is.
func resetsText(w *wire.UsageWindow, now time.Time) string {
	is := "reset time unknown"
	if w.Resets != nil {
		at, layout := w.Resets.Local(), "15:04"
		if at.Format(time.DateOnly) != now.Local().Format(time.DateOnly) {
			layout = "Mon 15:04" // no window is longer than a week
		}
		is = fmt.Sprintf("resets in %s (%s)", minutes(at.Sub(now)), at.Format(layout))
	}
	if old := now.Sub(w.Learned); old >= staleAfter {
		is += ", " + minutes(old) + " ago"
	}
	return is
}

// minutes returns a span of time to the minute.
func minutes(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return text.Ago(d)
}
