package see

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/ui/tui"
	"github.com/hookmux/hookmux/internal/wire"
)

// UpCommand is `hookmux up`.
func UpCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "The live view: sessions and requests on one screen, answered by key",
		Long: `Shows every session by what it needs from you, and each request in full. Keys
approve, deny and answer; the line at the bottom shows those that apply, ? shows
all. Nothing can be approved before all of it was on the screen. While the view is
open, agents wait for your answer; what stands in an agent's own window is in the
same list, with the way there. Starts the hub if none runs.`,
		Example: "  hookmux up",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return showLiveView(cmd.Context(), app) },
	}
}

func showLiveView(ctx context.Context, app *cmdutil.App) error {
	if !app.IsTerminal() || app.Columns() == 0 {
		return cmdutil.UsageError("up needs a terminal; `hookmux ps` and `hookmux feed` print the same, also " +
			"with --json")
	}
	o, err := takeOverview(ctx, app)
	if err != nil {
		return err
	}
	c, err := app.ConnectHub(ctx)
	if err != nil {
		return err
	}
	var empty []string
	for _, step := range o.nextSteps() {
		empty = append(empty, fmt.Sprintf("%-28s %s", step[0], step[1]))
	}
	return tui.Run(ctx, tui.Options{Hub: c, Empty: append([]string{""}, empty...),
		Jump: func(ctx context.Context, s *wire.Session) (string, error) {
			return focusPane(ctx, app, s)
		}})
}
