package see

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// StatusCommand is `hookmux status`.
func StatusCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Hub, agents, and what is wrong",
		Long: `Shows the hub, the agents it knows, and everything that is wrong with what to do
about it. Exit code 0: nothing is wrong, 1: something is, 69: no hub is running.`,
		Example: "  hookmux status\n  hookmux status --json | jq .problems",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return showStatus(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {pid, socket, version, uptime, agents, problems, …}")
	return cmd
}

func showStatus(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	c, err := app.RunningHub()
	if err != nil {
		return err
	}
	info, err := c.Info(ctx)
	if errors.Is(err, client.ErrNoHub) {
		return showStatusWithoutHub(app, asJSON)
	}
	if err != nil {
		return err
	}
	if dirs, err := app.Dirs(); err == nil && dirs.Config != info.Config {
		info.Problems = append(info.Problems, client.Problem{
			Key: "places", Since: info.Started,
			What: "the hub reads its settings from " + info.Config + ", not from " + dirs.Config + " as this shell says",
			Fix:  "a hook started it; `hookmux hub stop` and `hookmux hub start` from here make it use this shell's places, for good",
		})
	}
	if asJSON {
		err = app.PrintJSON(info)
	} else {
		app.Style().Status(app.Stdout, info, time.Now())
	}
	if err == nil && len(info.Problems) > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return err
}

func showStatusWithoutHub(app *cmdutil.App, asJSON bool) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	why := app.ExplainNoHub(dirs)
	if asJSON {
		if err := app.PrintJSON(map[string]any{"running": false, "socket": dirs.Socket(), "problems": []any{map[string]string{"key": "hub", "what": why}}}); err != nil {
			return err
		}
	} else {
		app.Say("%s", why)
	}
	return cmdutil.Exit(cmdutil.ExitNoHub)
}
