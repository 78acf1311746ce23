package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/platform/hubstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

func (w *world) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Hub, agents, and what is wrong",
		Long: `Shows the hub, the agents it knows, and everything that is wrong with what to do
about it. Exit code 0: nothing is wrong, 1: something is, 69: no hub is running.`,
		Example: "  hookmux status\n  hookmux status --json | jq .problems",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return w.status(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {pid, socket, version, uptime, agents, problems, …}")
	return cmd
}

func (w *world) status(ctx context.Context, asJSON bool) error {
	c, err := w.running()
	if err != nil {
		return err
	}
	info, err := c.Info(ctx)
	if errors.Is(err, client.ErrNoHub) {
		return w.statusWithoutHub(asJSON)
	}
	if err != nil {
		return err
	}
	if dirs, err := w.dirs(); err == nil && dirs.Config != info.Config {
		info.Problems = append(info.Problems, client.Problem{
			Key: "places", Since: info.Started,
			What: "the hub reads its settings from " + info.Config + ", not from " + dirs.Config + " as this shell says",
			Fix:  "a hook started it; `hookmux hub stop` and `hookmux hub start` from here make it use this shell's places, for good",
		})
	}
	if asJSON {
		err = w.printJSON(info)
	} else {
		w.style().Status(w.stdout, info, time.Now())
	}
	if err == nil && len(info.Problems) > 0 {
		return &codeError{code: exitError}
	}
	return err
}

func (w *world) statusWithoutHub(asJSON bool) error {
	dirs, err := w.dirs()
	if err != nil {
		return err
	}
	why := w.noHubWords(dirs)
	if asJSON {
		if err := w.printJSON(map[string]any{"running": false, "socket": dirs.Socket(), "problems": []any{map[string]string{"key": "hub", "what": why}}}); err != nil {
			return err
		}
	} else {
		w.say("%s", why)
	}
	return &codeError{code: exitNoHub}
}

func (w *world) noHubWords(dirs paths.Dirs) string {
	if err := dirs.MakeRuntime(); err != nil {
		return "the hub is not running and cannot be started: " + err.Error()
	}
	if err := dirs.CheckSocket(); err != nil {
		return "the hub is not running and cannot be started: " + err.Error()
	}
	if _, err := hubstart.FindProgram(w.getenv); err != nil {
		return "the hub is not running and hooks cannot start it: " + err.Error()
	}
	if until, paused := hubstart.Paused(dirs); paused {
		return "the hub died three times within a minute; it is not started again before " + until.Local().Format("15:04:05") +
			". Its log is " + dirs.Log() + "; `hookmux hub start` tries at once"
	}
	return "the hub is not running; the next hook starts it, or `hookmux hub start`"
}
