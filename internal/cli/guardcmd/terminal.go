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

// TerminalCommand is `hookmux trusted terminal`.
func TerminalCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "terminal",
		Short: "Whether hookmux takes you for a person here, and terminals you trust",
		Long: `Answers, guards and settings are for people, so the daemon looks where a command
comes from: from ssh, a console, an attached tmux, a desktop terminal. Shows what
it makes of this terminal. Where it cannot tell who types (an editor's remote
server, a web terminal, mosh, screen), a person at another terminal can trust
the program behind it, for as long as that runs.`,
		Example: "  hookmux whoami\n  hookmux whoami add 4242",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return showTerminal(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	cmd.AddCommand(
		&cobra.Command{
			Use: "add PID", Short: "Trust the program that holds a terminal", Example: "  hookmux whoami add 4242",
			Long: `Lets whoever types at the terminals of this process decide, until it ends. Run it
at a terminal that hookmux knows, and make sure that you started that program.`,
			Args: cmdutil.ExactArgs("PID"),
			RunE: func(cmd *cobra.Command, args []string) error { return addTerminal(cmd.Context(), app, args[0]) },
		},
		terminalListCommand(app),
		&cobra.Command{
			Use: "remove PID", Short: "Stop trusting it", Example: "  hookmux whoami remove 4242",
			Args: cmdutil.ExactArgs("PID"),
			RunE: func(cmd *cobra.Command, args []string) error { return removeTerminal(cmd.Context(), app, args[0]) },
		},
	)
	return cmd
}

func terminalListCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "Programs whose terminals you trust", Example: "  hookmux whoami list",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return listTerminals(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func showTerminal(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	var view wire.TerminalView
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Call(ctx, wire.MethodWhoami, nil, &view)
	}); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(view)
	}
	switch view.Outcome {
	case wire.TerminalAllowed:
		app.Say("you are taken for a person here: the command %s", view.Reason)
	case wire.TerminalCode:
		app.Say("you are taken for a person at a %s, but each answer asks for a code: %s", view.Terminal, view.Reason)
	default:
		app.Say("%s", view.Reason)
	}
	return nil
}

func readPID(text string) (wire.TerminalParams, error) {
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 1 {
		return wire.TerminalParams{}, cmdutil.UsageError("%s is not a process id; the refusal at that terminal names it",
			text)
	}
	return wire.TerminalParams{PID: pid}, nil
}

func addTerminal(ctx context.Context, app *cmdutil.App, pid string) error {
	var info wire.TerminalInfo
	if _, err := callTerminal(ctx, app, wire.MethodTerminalAdd, pid, &info); err != nil {
		return err
	}
	app.Say("whoever types at the terminals of %s (pid %d) may decide, until it ends", info.Name, info.PID)
	return nil
}

func removeTerminal(ctx context.Context, app *cmdutil.App, pid string) error {
	p, err := callTerminal(ctx, app, wire.MethodTerminalRemove, pid, nil)
	if err != nil {
		return err
	}
	app.Say("the terminals of process %d no longer count", p.PID)
	return nil
}

// callTerminal runs a method about the trusted terminal of a process.
func callTerminal(ctx context.Context, app *cmdutil.App, method, pid string, result any) (wire.TerminalParams, error) {
	p, err := readPID(pid)
	if err != nil {
		return p, err
	}
	return p, app.CallDaemon(ctx, method, p, result)
}

func listTerminals(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	var list []wire.TerminalInfo
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Call(ctx, wire.MethodTerminals, nil, &list)
	}); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(list)
	}
	if len(list) == 0 {
		app.Say("no terminal is trusted; `hookmux whoami` says what this one counts as")
		return nil
	}
	rows := [][]string{{"PID", "PROGRAM", "SINCE", "FROM"}}
	for _, one := range list {
		rows = append(rows, []string{strconv.Itoa(one.PID), one.Name, text.Moment(one.Added, time.Now()), one.From})
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}
