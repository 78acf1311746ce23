package guardcmd

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// SeatCommand is `hookmux seat`.
func SeatCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "seat",
		Short: "Whether hookmux takes you for a person here, and terminals you vouch for",
		Long: `Answers, guards and settings are for people, so the hub looks where a command
comes from: from ssh, a console, an attached tmux, a desktop terminal. Shows what
it makes of this terminal. Where it cannot tell who types (an editor's remote
server, a web terminal, mosh, screen), a person at another terminal can vouch for
the program behind it, for as long as that runs.`,
		Example: "  hookmux seat\n  hookmux seat add 4242",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return showSeat(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	cmd.AddCommand(
		&cobra.Command{
			Use: "add PID", Short: "Vouch for the program that holds a terminal", Example: "  hookmux seat add 4242",
			Long: `Lets whoever types at the terminals of this process decide, until it ends. Run it
at a terminal that hookmux knows, and make sure that you started that program.`,
			Args: cmdutil.ExactArgs("PID"),
			RunE: func(cmd *cobra.Command, args []string) error { return addSeat(cmd.Context(), app, args[0]) },
		},
		seatListCommand(app),
		&cobra.Command{
			Use: "remove PID", Short: "Stop vouching for it", Example: "  hookmux seat remove 4242",
			Args: cmdutil.ExactArgs("PID"),
			RunE: func(cmd *cobra.Command, args []string) error { return removeSeat(cmd.Context(), app, args[0]) },
		},
	)
	return cmd
}

func seatListCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "Programs whose terminals you vouch for", Example: "  hookmux seat list",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return listSeats(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func showSeat(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	var view wire.SeatView
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Call(ctx, wire.MethodSeat, nil, &view)
	}); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(view)
	}
	switch view.Outcome {
	case wire.SeatAllowed:
		app.Say("you are taken for a person here: the command %s", view.Reason)
	case wire.SeatCode:
		app.Say("you are taken for a person at a %s, but each answer asks for a code: %s", view.Seat, view.Reason)
	default:
		app.Say("%s", view.Reason)
	}
	return nil
}

func readPID(text string) (wire.SeatParams, error) {
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 1 {
		return wire.SeatParams{}, cmdutil.UsageError("%s is not a process id; the refusal at that terminal names it",
			text)
	}
	return wire.SeatParams{PID: pid}, nil
}

func addSeat(ctx context.Context, app *cmdutil.App, pid string) error {
	var info wire.SeatInfo
	if _, err := callSeat(ctx, app, wire.MethodSeatAdd, pid, &info); err != nil {
		return err
	}
	app.Say("whoever types at the terminals of %s (pid %d) may decide, until it ends", info.Name, info.PID)
	return nil
}

func removeSeat(ctx context.Context, app *cmdutil.App, pid string) error {
	p, err := callSeat(ctx, app, wire.MethodSeatRemove, pid, nil)
	if err != nil {
		return err
	}
	app.Say("the terminals of process %d no longer count", p.PID)
	return nil
}

// callSeat runs a method about the seat of a process.
func callSeat(ctx context.Context, app *cmdutil.App, method, pid string, result any) (wire.SeatParams, error) {
	p, err := readPID(pid)
	if err != nil {
		return p, err
	}
	return p, app.CallHub(ctx, method, p, result)
}

func listSeats(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	var list []wire.SeatInfo
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Call(ctx, wire.MethodSeats, nil, &list)
	}); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(list)
	}
	if len(list) == 0 {
		app.Say("no terminal is enrolled; `hookmux seat` says what this one counts as")
		return nil
	}
	rows := [][]string{{"PID", "PROGRAM", "SINCE", "FROM"}}
	for _, one := range list {
		rows = append(rows, []string{strconv.Itoa(one.PID), one.Name, text.Moment(one.Added, time.Now()), one.From})
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}
