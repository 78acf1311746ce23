package runcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/launch/start"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// ResumeCommand is `hookmux resume`.
func ResumeCommand(app *cmdutil.App) *cobra.Command {
	var all, show, asJSON bool
	var in string
	cmd := &cobra.Command{
		Use:   "resume SESSION | --all",
		Short: "Resume a session with the flags it was started with",
		Long: `Resumes a session where it left off, with the same flags, config home and
permission mode, but without the old prompt or credentials. A single session
continues in this terminal. With --all, each session goes back to its old tmux
pane if that's at a shell prompt, otherwise to a new window.

This only works for agents with resume turned on:
  hookmux config set resume.claude on
Sessions that are still running are left alone.
` + cmdutil.SessionNames,
		Example: `  hookmux resume "payment bug"
  hookmux resume --all            # after a reboot
  hookmux resume --all --dry-run  # only show the commands`,
		Args: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return cmdutil.UsageError("name a session or say --all, not both")
			}
			if all {
				return nil
			}
			if len(args) == 0 {
				return cmdutil.UsageError("which session? `hookmux resume --all --dry-run` lists those that can be resumed, and " +
					"--all resumes them all")
			}
			return cmdutil.ExactArgs("SESSION")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch in {
			case "", start.Here, start.Pane, start.Window:
			default:
				return cmdutil.UnknownName("place", in, []string{start.Here, start.Pane, start.Window}, "")
			}
			if asJSON && !show {
				return cmdutil.UsageError("--json goes with --dry-run")
			}
			if all && in == start.Here {
				return cmdutil.UsageError("--all can't resume all of them here; leave out --in, or use pane or " +
					"window")
			}
			name := ""
			if !all {
				name = args[0]
			}
			c, err := app.ConnectDaemon(cmd.Context())
			if err != nil {
				return err
			}
			if show {
				return printResume(cmd.Context(), app, c, name, asJSON)
			}
			if all {
				return resumeAll(cmd.Context(), app, c, in)
			}
			return resumeOne(cmd.Context(), app, c, name, in)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every session that can be resumed and isn't running")
	cmd.Flags().BoolVar(&show, "dry-run", false, "print the commands, quoted for a shell, without running them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --dry-run, print JSON: [{session, agent, argv, dir, env, live, …}]")
	cmd.Flags().StringVar(&in, "in", "", "where: here, pane (its old one, if that waits at a shell), window (a new "+
		"tmux window)")
	return cmd
}

func printResume(ctx context.Context, app *cmdutil.App, c *client.Client, name string, asJSON bool) error {
	list, err := c.ResumeRecords(ctx, name, false)
	if err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(app.Stderr, nothingToResume)
	}
	for i := range list {
		if list[i].Live != "" {
			fmt.Fprintf(app.Stderr, "%s: %s\n", termsafe.Line(start.Label(&list[i]), 60), list[i].Live)
		}
		app.Say("%s", termsafe.Text(start.Line(&list[i])))
	}
	return nil
}

const nothingToResume = "nothing to resume; sessions are recorded at their prompts after `hookmux config set " +
	"resume.<agent> on`"

func newResumer(app *cmdutil.App) *start.Resumer {
	return &start.Resumer{Getenv: app.Getenv, Environ: app.Environ,
		Starter: func(environ []string) *start.Starter { return newStarter(app, environ) }}
}

func resumeOne(ctx context.Context, app *cmdutil.App, c *client.Client, name, in string) error {
	list, err := c.ResumeRecords(ctx, name, in == "" || in == start.Here)
	if err != nil {
		return err
	}
	r := &list[0]
	if r.Live != "" {
		return fmt.Errorf("%s: %s; it is not resumed twice", start.Label(r), r.Live)
	}
	if in == "" || in == start.Here {
		return launchError(app, newResumer(app).BecomeAgent(ctx, r))
	}
	where, err := newResumer(app).InTmux(ctx, r, in)
	if errors.Is(err, start.ErrPaneGone) {
		return fmt.Errorf("%s: %w; --in window opens a new one", start.Label(r), err)
	}
	if err == nil {
		sayResumed(app, r, where)
	}
	return err
}

// ResumeInTmux resumes a session in its old pane if that waits at a shell, else in a new
// window, and says where.
func ResumeInTmux(ctx context.Context, app *cmdutil.App, c *client.Client, session string) (string, error) {
	if !(&tmux.Server{}).Available() {
		return "", fmt.Errorf("tmux is not installed; `hookmux resume %s` resumes it here", wire.ShortID(session))
	}
	list, err := c.ResumeRecords(ctx, session, false)
	if err != nil {
		return "", err
	}
	r := &list[0]
	if r.Live != "" {
		return "", fmt.Errorf("%s: %s; it is not resumed twice", start.Label(r), r.Live)
	}
	where, err := newResumer(app).InTmux(ctx, r, "")
	if err != nil {
		return "", err
	}
	return start.Label(r) + ": " + where, nil
}

// resumeAll resumes what isn't running, each in its old pane or a new window.
func resumeAll(ctx context.Context, app *cmdutil.App, c *client.Client, in string) error {
	list, err := c.ResumeRecords(ctx, "", false)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(app.Stderr, nothingToResume)
		return nil
	}
	if !(&tmux.Server{}).Available() {
		return errors.New("tmux is not installed, and here is room for one session only; `hookmux resume --all " +
			"--dry-run` shows the commands")
	}
	resumer, failed := newResumer(app), false
	for i := range list {
		label, where := termsafe.Line(start.Label(&list[i]), 60), list[i].Live
		live := where != ""
		if !live {
			if where, err = resumer.InTmux(ctx, &list[i], in); err != nil {
				failed = true
				fmt.Fprintf(app.Stderr, "hookmux: %s: %s\n", label, termsafe.Text(err.Error()))
				continue
			}
		}
		if live {
			app.Say("%s: %s", label, where)
		} else {
			sayResumed(app, &list[i], where)
		}
	}
	if failed {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

// sayResumed says where a session was resumed, and what may keep it from working there.
func sayResumed(app *cmdutil.App, r *wire.ResumeRecord, where string) {
	app.Say("%s: %s", termsafe.Line(start.Label(r), 60), where)
	if r.Served {
		app.Say("  %s's daemon may still have it open: if it says that the session is open elsewhere, "+
			"take it over there", termsafe.Line(r.Agent, 20))
	}
}
