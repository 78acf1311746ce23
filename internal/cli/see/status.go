package see

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// StatusCommand is `hookmux status`.
func StatusCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Which agents are hooked, the daemon, and what is wrong",
		Long: `Shows which agents of this machine are hooked, the daemon, and everything that is
wrong with what to do about it. No daemon is started. Exit code 0: nothing is wrong,
1: something is, 69: no daemon is running.`,
		Example: "  hookmux status\n  hookmux status --json | jq .problems",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return showStatus(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {pid, socket, version, uptime, agents, problems, …}")
	return cmd
}

func showStatus(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	c, err := app.RunningDaemon()
	if err != nil {
		return err
	}
	info, err := c.Info(ctx)
	if errors.Is(err, client.ErrNoDaemon) {
		return showStatusWithoutDaemon(ctx, app, asJSON)
	}
	if err != nil {
		return err
	}
	if dirs, err := app.Dirs(); err == nil && dirs.Config != info.Config {
		info.Problems = append(info.Problems, client.Problem{
			Key: "places", Since: info.Started,
			What: "the daemon reads its settings from " + info.Config + ", not from " + dirs.Config +
				" as this shell says",
			Fix: "a hook started it; `hookmux daemon stop` and `hookmux daemon start` from here make it use this shell's " +
				"places, for good",
		})
	}
	hooks, err := agents.HookStates(app)
	if err != nil {
		return err
	}
	info.Problems = append(info.Problems, hookProblems(hooks)...)
	info.Problems = append(info.Problems, agents.CopyProblem(app)...)
	if asJSON {
		err = app.PrintJSON(statusWithHooks{info, hooks})
	} else {
		app.Say("hooks %s", agents.DescribeHookStates(hooks))
		sayVersions(app, hooks)
		app.Style().Status(app.Stdout, shortPaths(app, *info), time.Now())
	}
	if err == nil && len(info.Problems) > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return err
}

// shortPaths writes the home as ~, for people.
func shortPaths(app *cmdutil.App, info client.Info) *client.Info {
	if dirs, err := app.Dirs(); err == nil {
		for _, path := range []*string{&info.Socket, &info.Config, &info.State} {
			*path = paths.Shorten(dirs.Home, *path)
		}
		info.Problems = slices.Clone(info.Problems)
		for i := range info.Problems {
			p := &info.Problems[i]
			p.What, p.Fix = paths.Shorten(dirs.Home, p.What), paths.Shorten(dirs.Home, p.Fix)
		}
	}
	return &info
}

// statusWithHooks is what the daemon says and what agents' files say.
type statusWithHooks struct {
	*client.Info
	Hooks []agents.HookState `json:"hooks"`
}

// hookProblems are those of agents whose hooks do not all run.
func hookProblems(hooks []agents.HookState) []client.Problem {
	var list []client.Problem
	for _, h := range hooks {
		if h.Wrong != "" {
			list = append(list, client.Problem{
				Key: "hooks." + h.Agent, What: h.Agent + ": " + h.HowMany() + " of its hooks run: " + h.Wrong,
				Fix: "hookmux doctor " + h.Agent,
			})
		}
		if h.Lifted != "" {
			list = append(list, client.Problem{Key: "mods." + h.Agent, What: h.Lifted,
				Fix: "take the setting out, or set it to false"})
		}
	}
	return list
}

// sayVersions names hooked agents of a version that nobody asked. That is nothing
// wrong: agents are raised every week, and most go on as they were.
func sayVersions(app *cmdutil.App, hooks []agents.HookState) {
	for _, line := range agents.VersionNotes(hooks) {
		app.Say("     %s", text.Wrap(termsafe.Line(line, 400), app.Style().Width, 5))
	}
}

func showStatusWithoutDaemon(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	why := app.ExplainNoDaemon(dirs)
	hooks, err := agents.HookStates(app)
	if err != nil {
		return err
	}
	problems := append(hookProblems(hooks), agents.UnconfirmedProblems(ctx, app)...)
	problems = append(problems, agents.CopyProblem(app)...)
	if asJSON {
		problems = append([]client.Problem{{Key: "daemon", What: why}}, problems...)
		if err := app.PrintJSON(map[string]any{"running": false, "socket": dirs.Socket(), "hooks": hooks,
			"problems": problems}); err != nil {
			return err
		}
		return cmdutil.Exit(cmdutil.ExitNoDaemon)
	}
	app.Say("hooks %s", agents.DescribeHookStates(hooks))
	sayVersions(app, hooks)
	for i := range problems {
		app.Say("     %s", app.Style().Problem(&problems[i]))
	}
	app.Say("%s", why)
	app.Say("%s", verdictWithoutDaemon(hooks, len(problems)))
	return cmdutil.Exit(cmdutil.ExitNoDaemon)
}

// verdictWithoutDaemon says how things are, and what to do next.
func verdictWithoutDaemon(hooks []agents.HookState, problems int) string {
	hooked := 0
	for _, h := range hooks {
		if h.Hooked {
			hooked++
		}
	}
	switch {
	case problems == 1:
		return "1 thing is wrong; `hookmux doctor` says how to fix it"
	case problems > 1:
		return fmt.Sprintf("%d things are wrong; `hookmux doctor` says how to fix them", problems)
	case hooked == 0:
		return "no agent is hooked; `hookmux setup` does that, step by step"
	case hooked == 1:
		return "nothing is wrong: 1 agent is hooked"
	}
	return fmt.Sprintf("nothing is wrong: %d agents are hooked", hooked)
}
