package configcmd

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// WhoamiCommand is `hookmux whoami`.
func WhoamiCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Show whether hookmux trusts this terminal",
		Long: `Shows whether hookmux trusts this terminal. Only you may approve requests and change
settings, so hookmux checks where a command comes from: ssh, a console, an attached
tmux or a desktop terminal is yours. If it can't tell who's typing (an editor's remote
server, a web terminal, mosh, screen), trust the program behind the terminal from one
that hookmux knows; that lasts as long as the program runs.`,
		Example: "  hookmux whoami\n  hookmux whoami add 4242",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return showTerminal(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		&cobra.Command{
			Use: "add PID", Short: "Trust the program behind a terminal", Example: "  hookmux whoami add 4242",
			Long: `Trusts terminals opened by this process until it exits. Run it in a terminal that
hookmux trusts, and only for a program you started.`,
			Args: cmdutil.ExactArgs("PID"),
			RunE: func(cmd *cobra.Command, args []string) error { return addTerminal(cmd.Context(), app, args[0]) },
		},
		terminalListCommand(app),
		&cobra.Command{
			Use: "remove PID", Short: "Stop trusting a program's terminals", Example: "  hookmux whoami remove 4242",
			Args: cmdutil.ExactArgs("PID"),
			RunE: func(cmd *cobra.Command, args []string) error { return removeTerminal(cmd.Context(), app, args[0]) },
		},
	)
	return cmd
}

func terminalListCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the programs whose terminals you trust", Example: "  hookmux whoami list",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return listTerminals(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showTerminal(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	var view wire.TerminalView
	limited := false
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
		info, err := c.Info(ctx)
		if err != nil {
			return err
		}
		limited = info.Limited != nil
		return c.Call(ctx, wire.MethodWhoami, nil, &view)
	}); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(view)
	}
	switch view.Outcome {
	case wire.TerminalAllowed:
		app.Say("hookmux trusts this terminal: the command %s", view.Reason)
	case wire.TerminalCode:
		app.Say("hookmux trusts this terminal (%s), but asks for a code with each answer: %s", view.Terminal, view.Reason)
	default:
		sees := "You can read everything here"
		if limited {
			sees = "You only see the agent's own sessions here"
		}
		app.Say("%s", text.Wrap("This terminal isn't trusted: "+strings.TrimPrefix(view.Reason, "refused: ")+
			". "+sees+", and can't approve requests or change settings.", app.Columns(), 0))
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

func readPID(text string) (wire.TerminalParams, error) {
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 1 {
		return wire.TerminalParams{}, cmdutil.UsageError("%q isn't a process ID; `hookmux whoami` in that terminal shows it",
			text)
	}
	return wire.TerminalParams{PID: pid}, nil
}

func addTerminal(ctx context.Context, app *cmdutil.App, pid string) error {
	p, err := readPID(pid)
	if err != nil {
		return err
	}
	if app.Table != nil {
		if _, err := app.Table.Lookup(p.PID); errors.Is(err, proc.ErrGone) {
			return cmdutil.UsageError("there's no process %d; `hookmux whoami` in that terminal shows the right one", p.PID)
		}
	}
	var info wire.TerminalInfo
	if _, err := callTerminal(ctx, app, wire.MethodTerminalAdd, pid, &info); err != nil {
		return err
	}
	app.Say("trusted: the terminals of %s (pid %d), until it exits", info.Name, info.PID)
	return nil
}

func removeTerminal(ctx context.Context, app *cmdutil.App, pid string) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	var list []wire.TerminalInfo
	if err := c.Call(ctx, wire.MethodTerminals, nil, &list); err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(one wire.TerminalInfo) bool { return strconv.Itoa(one.PID) == pid }) {
		return cmdutil.UsageError("you don't trust process %s; `hookmux whoami list` shows the ones you do", pid)
	}
	p, err := callTerminal(ctx, app, wire.MethodTerminalRemove, pid, nil)
	if err != nil {
		return err
	}
	app.Say("no longer trusted: the terminals of process %d", p.PID)
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
		app.Say("you haven't trusted any program's terminals; `hookmux whoami` checks this one")
		return nil
	}
	rows := [][]string{{"PID", "PROGRAM", "SINCE", "FROM"}}
	for _, one := range list {
		rows = append(rows, []string{strconv.Itoa(one.PID), one.Name, text.Moment(one.Added, time.Now()), one.From})
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}
