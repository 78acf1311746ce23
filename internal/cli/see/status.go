package see

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/systemcmd"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// StatusCommand is `hookmux status`.
func StatusCommand(app *cmdutil.App) *cobra.Command {
	var asJSON, hooks, all bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show problems, agents, inbox and daemon",
		Long: `Shows what's wrong and how to fix it, which agents are hooked, what's waiting, and
how the daemon is doing. It doesn't start the daemon. The exit code is 0 if all is
good and 1 if something is wrong.

--hooks shows how often each hook ran since the daemon started, and how long it took.`,
		Example: "  hookmux status\n  hookmux status --hooks\n  hookmux status --json | jq .problems",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if hooks {
				return showHookTimes(cmd.Context(), app, asJSON)
			}
			return showStatus(cmd.Context(), app, all, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also paths, and agents that aren't on this machine")
	cmd.Flags().BoolVar(&hooks, "hooks", false, "calls, failures and times of each hook, the most expensive first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {running, pid, socket, version, uptime, agents, problems, "+
		"…}; with --hooks [{hook, calls, …}]")
	return cmd
}

// statusJSON is the status for programs: what the daemon says and what agents' files say.
type statusJSON struct {
	Running bool `json:"running"`
	*client.Info
	Socket   string             `json:"socket"`
	Hooks    []agents.HookState `json:"hooks"`
	Problems []client.Problem   `json:"problems"`
}

func showStatus(ctx context.Context, app *cmdutil.App, all, asJSON bool) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	hooks, err := agents.HookStates(app)
	if err != nil {
		return err
	}
	r := text.StatusReport{All: all, Notes: agents.VersionNotes(hooks)}
	for _, h := range hooks {
		r.Agents = append(r.Agents, text.NewHookedAgent(h.Agent, h.Hooked, h.Events, h.Wrong))
	}
	c, err := askDaemon(ctx, app)
	if err != nil {
		return err
	}
	r.Problems = []client.Problem{}
	if c != nil {
		if r.Info, err = c.Info(ctx); err != nil {
			return err
		}
		r.Problems = append(r.Problems, agents.WithoutHooks(r.Info.Problems, hooks)...)
		if dirs.Config != r.Info.Config {
			r.Problems = append(r.Problems, otherPlaces(r.Info, dirs))
		}
	} else {
		r.NoDaemon = app.ExplainNoDaemon(dirs)
		r.Problems = append(r.Problems, agents.UnacceptedProblems(ctx, app)...)
		r.Problems = append(r.Problems, settingsProblems(app, dirs)...)
	}
	r.Problems = append(r.Problems, hookProblems(hooks)...)
	r.Problems = append(r.Problems, agents.CopyProblem(app)...)
	if asJSON {
		err = app.PrintJSON(statusJSON{Running: c != nil, Info: r.Info, Socket: dirs.Socket(), Hooks: hooks,
			Problems: r.Problems})
	} else {
		shortenPaths(&r, dirs.Home)
		app.Style().Status(app.Stdout, &r, time.Now())
		if line := systemcmd.Summary(); line != "" {
			app.Say("system   %s", line)
		}
	}
	if err == nil && len(r.Problems) > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return err
}

// settingsProblems says what the next daemon can't read in your settings, and what applies
// instead.
func settingsProblems(app *cmdutil.App, dirs paths.Dirs) (list []client.Problem) {
	j := evaluate.New(dirs, app.LiveSettings)
	for _, p := range j.Config.For(j.Registry.FindProject(app.Cwd()), false).Problems() {
		list = append(list, client.Problem{Key: "config", What: p.String(), Fix: "fix it in the file, then run `hookmux config accept`"})
	}
	return list
}

// otherPlaces says that the daemon uses other folders than this shell.
func otherPlaces(info *client.Info, dirs paths.Dirs) client.Problem {
	return client.Problem{
		Key: "places", Since: info.Started,
		What: "the daemon reads its settings from " + info.Config + ", but this shell uses " + dirs.Config,
		Fix:  "run `hookmux daemon restart` here to have the daemon use this shell's folders",
	}
}

// shortenPaths writes the home as ~, for display.
func shortenPaths(r *text.StatusReport, home string) {
	if r.Info != nil {
		info := *r.Info
		for _, path := range []*string{&info.Socket, &info.Config, &info.State} {
			*path = paths.Shorten(home, *path)
		}
		r.Info = &info
	}
	r.NoDaemon = paths.Shorten(home, r.NoDaemon)
	r.Problems = slices.Clone(r.Problems)
	for i := range r.Problems {
		p := &r.Problems[i]
		p.What, p.Fix = paths.Shorten(home, p.What), paths.Shorten(home, p.Fix)
	}
}

// hookProblems returns those of agents whose hooks don't all run.
func hookProblems(hooks []agents.HookState) []client.Problem {
	var list []client.Problem
	for _, h := range hooks {
		if p := h.Problem(); p != nil {
			list = append(list, *p)
		}
		if h.Lifted != "" {
			list = append(list, client.Problem{Key: "mods." + h.Agent, What: h.Lifted,
				Fix: "hookmux doctor " + h.Agent})
		}
	}
	return list
}

// showHookTimes shows what each hook costs.
func showHookTimes(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	c, err := askDaemon(ctx, app)
	if err != nil {
		return err
	}
	list := []wire.HookStat{}
	if c != nil {
		if err := c.Call(ctx, wire.MethodStats, nil, &list); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		return app.PrintJSON(list)
	case c == nil:
		app.Say("the daemon isn't running, so no hook has run since it started")
		return nil
	case len(list) == 0:
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
