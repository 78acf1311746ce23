package see

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/tty"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// JumpCommand is `hookmux jump`.
func JumpCommand(app *cmdutil.App) *cobra.Command {
	var next bool
	cmd := &cobra.Command{
		Use:   "jump SESSION | --next",
		Short: "Go to a session's terminal",
		Long: "Brings a session's tmux pane to the front, or its window in kitty, WezTerm, zellij\n" +
			"or iTerm2. Elsewhere it says where the session runs.\n" + cmdutil.SessionNames + `
--next goes to the session that has waited longest for you; if none is waiting, the
exit code is 1.`,
		Example: "  hookmux jump --next\n  hookmux jump \"fix the tests\"",
		Args: func(cmd *cobra.Command, args []string) error {
			if next && len(args) == 0 {
				return nil
			}
			if next {
				return cmdutil.UsageError("name a session or use --next, not both")
			}
			if len(args) == 0 {
				return cmdutil.UsageError("name a session, or use --next for the one that has waited longest; `hookmux " +
					"ps` lists them")
			}
			return cmdutil.ExactArgs("SESSION")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if next {
				return jumpToNext(cmd.Context(), app)
			}
			return jumpToSession(cmd.Context(), app, args[0])
		},
	}
	cmd.Flags().BoolVar(&next, "next", false, "the session that has waited longest")
	return cmd
}

func jumpToNext(ctx context.Context, app *cmdutil.App) error {
	c, err := app.ReadDaemon(ctx)
	if err != nil {
		return err
	}
	list, err := c.Sessions(ctx, wire.SessionsParams{})
	if err != nil {
		return err
	}
	var missed error
	for _, one := range wire.NextWaiting(list) {
		said, err := focusPane(ctx, app, one)
		if err == nil {
			sayIfAny(app, said)
			return nil
		}
		if missed == nil {
			missed = err // the next one may be reachable
		}
	}
	if missed != nil {
		return missed
	}
	return cmdutil.FailWith(cmdutil.ExitFailed, "no session is waiting for you")
}

func jumpToSession(ctx context.Context, app *cmdutil.App, name string) error {
	c, err := app.ReadDaemon(ctx)
	if err != nil {
		return err
	}
	d, err := c.Session(ctx, name)
	if err != nil {
		return err
	}
	said, err := focusPane(ctx, app, &d.Session)
	if err != nil {
		return err
	}
	sayIfAny(app, said)
	return nil
}

func sayIfAny(app *cmdutil.App, said string) {
	if said != "" {
		app.Say("%s", said)
	}
}

// windowOf returns the window of a session that isn't in tmux.
func windowOf(s *wire.Session) tty.Window {
	return tty.Window{Kind: s.Mux, ID: s.Pane, Server: s.Server, TTY: s.TTY, PID: s.PID}
}

// focusPane goes to the pane of a session, or says why it can't. The text it returns is
// for you.
func focusPane(ctx context.Context, app *cmdutil.App, s *wire.Session) (string, error) {
	called := s.Title
	if called == "" {
		called = s.ID
	}
	switch {
	case s.Host != "":
		return jumpToHost(ctx, app, s, app.IsTerminal())
	case s.Ended != nil:
		return "", fmt.Errorf("%s has ended; `hookmux resume %s` resumes it", called, shellquote.Argument(s.ID))
	case s.Pane == "unknown":
		return "", fmt.Errorf("%s: %s runs under its own shared daemon, so hookmux can't tell its pane; start it with "+
			"`hookmux run %s` instead", called, s.Agent, s.Agent)
	case s.Mux != "tmux" && s.Pane != "" && s.Mux != "":
		if err := tty.System().Focus(ctx, windowOf(s)); err != nil {
			return "", fmt.Errorf("%s: %w", called, err)
		}
		return "", nil
	case s.Mux != "tmux":
		place := "hookmux doesn't know which terminal it's in"
		if s.TTY != "" {
			place = "it's at " + s.TTY
		}
		return "", fmt.Errorf("can't jump to %q: %s; sessions in tmux can be jumped to", called, place)
	}
	server := &tmux.Server{Socket: s.Server}
	from := ""
	if tmux.FromEnv(app.Getenv).Socket == s.Server || s.Server == "" {
		from = app.Getenv("TMUX_PANE")
	}
	done, err := server.Focus(ctx, s.Pane, from)
	switch {
	case errors.Is(err, tmux.ErrNoServer):
		return "", fmt.Errorf("%s: its tmux server is gone; `hookmux resume %s` resumes it", called,
			shellquote.Argument(s.ID))
	case err != nil:
		return "", fmt.Errorf("%s: %w", called, err)
	}
	if done.Client == "" {
		return "no terminal is attached to that tmux; run " + shellquote.Line(done.Attach), nil
	}
	return "", nil
}
