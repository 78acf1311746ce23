package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/shell/quote"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// Where a session is taken up.
const (
	inHere   = "here"
	inPane   = "pane"
	inWindow = "window"
)

// ResumeCommand is `hookmux resume`.
func ResumeCommand(app *cmdutil.App) *cobra.Command {
	var all, show, asJSON bool
	var in string
	cmd := &cobra.Command{
		Use:   "resume SESSION | --all",
		Short: "Take a session up again, with the flags it was started with",
		Long: `Takes a session up again where it was, with its own flags, config home and
permission mode; its old prompt and credentials are left out. One session is taken
up here: the agent takes this process's place. With --all each goes into its old
tmux pane if that waits at a shell, else into a new window.

What is needed is recorded only for agents with resume on:
  hookmux config set resume.claude on
A session that still runs is left alone.
` + cmdutil.SessionNames,
		Example: `  hookmux resume "payment bug"
  hookmux resume --all            # after a reboot
  hookmux resume --all --print    # only show the commands`,
		Args: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return cmdutil.UsageError("name a session or say --all, not both")
			}
			if all {
				return nil
			}
			return cmdutil.ExactArgs("SESSION")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch in {
			case "", inHere, inPane, inWindow:
			default:
				return cmdutil.UsageError("--in %s: it is one of here, pane, window", in)
			}
			if asJSON && !show {
				return cmdutil.UsageError("--json goes with --print")
			}
			if all && in == inHere {
				return cmdutil.UsageError("--all cannot take all of them up here; leave --in out, or say pane or " +
					"window")
			}
			name := ""
			if !all {
				name = args[0]
			}
			c, err := app.ConnectHub(cmd.Context())
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
	cmd.Flags().BoolVar(&all, "all", false, "every session that can be taken up and does not run")
	cmd.Flags().BoolVar(&show, "print", false, "print the commands, quoted for a shell, and do nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --print: [{session, agent, argv, dir, env, live, …}]")
	cmd.Flags().StringVar(&in, "in", "", "where: here, pane (its old one, if that waits at a shell), window (a new "+
		"one of tmux)")
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
			fmt.Fprintf(app.Stderr, "%s: %s\n", termsafe.Line(sessionLabel(&list[i]), 60), list[i].Live)
		}
		app.Say("%s", termsafe.Text(cmdutil.QuotedResume(&list[i])))
	}
	return nil
}

const nothingToResume = "nothing to take up; sessions are recorded at their prompts once `hookmux config set " +
	"resume.<agent> on` was said"

func sessionLabel(r *wire.ResumeRecord) string {
	if r.Title != "" {
		return r.Title
	}
	return r.Session
}

func resumeOne(ctx context.Context, app *cmdutil.App, c *client.Client, name, in string) error {
	list, err := c.ResumeRecords(ctx, name, in == "" || in == inHere)
	if err != nil {
		return err
	}
	r := &list[0]
	if r.Live != "" {
		return fmt.Errorf("%s: %s; it is not taken up twice", sessionLabel(r), r.Live)
	}
	switch in {
	case inPane:
		ok, err := resumeInPane(ctx, app, r, nil)
		if err == nil && !ok {
			err = fmt.Errorf("%s: its old pane is gone or not at a shell; --in window opens a new one", sessionLabel(r))
		}
		return err
	case inWindow:
		return resumeInWindow(ctx, app, r)
	}
	return resumeHere(ctx, app, r)
}

// resumeAll takes up what does not run, each in its old pane or a new window.
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
			"--print` shows the commands")
	}
	failed, taken := 0, map[string]bool{}
	for i := range list {
		r := &list[i]
		if r.Live != "" {
			app.Say("%s: %s", termsafe.Line(sessionLabel(r), 60), r.Live)
			continue
		}
		done := false
		var err error
		if in != inWindow {
			done, err = resumeInPane(ctx, app, r, taken)
		}
		if !done && err == nil && in != inPane {
			err = resumeInWindow(ctx, app, r)
			done = err == nil
		}
		if !done {
			failed++
			if err == nil {
				err = errors.New("its old pane is gone or not at a shell")
			}
			fmt.Fprintf(app.Stderr, "hookmux: %s: %s\n", termsafe.Line(sessionLabel(r), 60), termsafe.Text(err.Error()))
		}
	}
	if failed > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

// resumeHere becomes the agent.
func resumeHere(ctx context.Context, app *cmdutil.App, r *wire.ResumeRecord) error {
	if r.Dir != "" {
		if err := os.Chdir(r.Dir); err != nil {
			return fmt.Errorf("%s: its folder is not there any more: %w", sessionLabel(r), err)
		}
	}
	app.Environ = withVariables(app.Environ, append(r.Env[:len(r.Env):len(r.Env)], "PWD="+r.Dir))
	if r.Run {
		name := r.Agent
		if strings.ContainsRune(r.Argv[0], filepath.Separator) {
			name = r.Argv[0]
		}
		l, err := planLaunch(app, name, r.Argv[1:], false)
		if err != nil {
			return err
		}
		return launchAgent(ctx, app, l)
	}
	program, err := exec.LookPath(r.Argv[0])
	if err != nil {
		return cmdutil.FailWith(cmdutil.ExitNotFound,
			fmt.Sprintf("%s: %s is not on PATH; install it, or start it by hand: %s", r.Agent, r.Argv[0],
				cmdutil.QuotedResume(r)))
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	err = launch.Exec(program, r.Argv, app.Environ)
	return cmdutil.FailWith(cmdutil.ExitNotRunnable, err.Error())
}

// withVariables sets NAME=value pairs in an environment.
func withVariables(environ, set []string) []string {
	out := make([]string, 0, len(environ)+len(set))
	names := map[string]bool{}
	for _, one := range set {
		name, value, _ := strings.Cut(one, "=")
		names[name] = value != ""
	}
	for _, one := range environ {
		if name, _, _ := strings.Cut(one, "="); !names[name] {
			out = append(out, one)
		}
	}
	for _, one := range set {
		if name, _, _ := strings.Cut(one, "="); names[name] {
			out = append(out, one)
		}
	}
	return out
}

// resumeInPane has the shell in the old pane take the session up: it is told
// to run hookmux, so nothing of the session has to be written for a shell.
func resumeInPane(ctx context.Context, app *cmdutil.App, r *wire.ResumeRecord, taken map[string]bool) (bool, error) {
	server, pane, ok := paneFor(ctx, app, r, taken)
	if !ok {
		return false, nil // closed, ours, or busy
	}
	line, err := resumeLine(app, r)
	if err != nil {
		return false, err
	}
	// A blank in front keeps it out of most histories.
	if err := server.Type(ctx, pane.ID, " "+line, true); err != nil {
		return false, err
	}
	if taken != nil {
		taken[pane.ID] = true
	}
	if r.Moved {
		app.Say("%s: in pane %s, a shell in its folder", termsafe.Line(sessionLabel(r), 60), pane.ID)
	} else {
		app.Say("%s: in its old pane %s", termsafe.Line(sessionLabel(r), 60), pane.ID)
	}
	return true, nil
}

// paneFor is a pane at a shell that is the session's own. After a restart of
// tmux the names of panes say nothing; what brought the windows back kept
// their folders, so a shell in the session's folder is taken then.
func paneFor(ctx context.Context, app *cmdutil.App, r *wire.ResumeRecord, taken map[string]bool) (*tmux.Server,
	tmux.Pane, bool) {
	server, here := &tmux.Server{Socket: r.Server}, tmux.FromEnv(app.Getenv)
	free := func(p *tmux.Pane) bool {
		ours := p.ID == app.Getenv("TMUX_PANE") && here.Socket == server.Socket
		return !ours && !taken[p.ID] && tmux.AtShell(proc.System(), *p)
	}
	if r.Pane != "" {
		pane, err := server.Pane(ctx, r.Pane)
		return server, pane, err == nil && free(&pane)
	}
	if !r.Moved || r.Dir == "" {
		return nil, tmux.Pane{}, false
	}
	if here.Socket != "" {
		server = here
	}
	panes, err := server.Panes(ctx)
	if err != nil {
		return nil, tmux.Pane{}, false
	}
	for i := range panes {
		if panes[i].Path == r.Dir && free(&panes[i]) {
			return server, panes[i], true
		}
	}
	return nil, tmux.Pane{}, false
}

// resumeInWindow opens a window for the session. When the agent ends, a shell
// stays in it.
func resumeInWindow(ctx context.Context, app *cmdutil.App, r *wire.ResumeRecord) error {
	line, err := resumeLine(app, r)
	if err != nil {
		return err
	}
	server := &tmux.Server{Socket: r.Server}
	if here := tmux.FromEnv(app.Getenv); here.Socket != "" {
		server = here
	}
	pane, err := server.Open(ctx, "", "", r.Dir, shellCommand(app.Getenv("SHELL"), line))
	if err != nil {
		return err
	}
	// Named as the hub names windows, so that the window gets tmux's own name back
	// when the session leaves it. A window without the title is no failure.
	_, _ = server.NameWindow(ctx, pane.Window, sessionLabel(r))
	app.Say("%s: in window %s", termsafe.Line(sessionLabel(r), 60), pane.ID)
	return nil
}

// ordinaryShells take -i and -c together, and `exec` with a quoted path.
var ordinaryShells = []string{"sh", "bash", "zsh", "fish", "ksh", "mksh", "dash", "ash"}

// shellCommand runs a line in the person's own shell, which reads its rc file as
// in every other window: keys and paths that are set there are there for the
// agent. A shell stays behind it.
func shellCommand(shell, line string) []string {
	if !filepath.IsAbs(shell) || !slices.Contains(ordinaryShells, filepath.Base(shell)) {
		return []string{"/bin/sh", "-c", line + `; exec "${SHELL:-/bin/sh}"`}
	}
	return []string{shell, "-ic", line + "; exec " + quote.Line([]string{shell})}
}

// resumeLine is what a shell runs to take a session up: this program with an
// id, which is letters and digits.
func resumeLine(app *cmdutil.App, r *wire.ResumeRecord) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	words := []string{self, "resume", r.Agent + ":" + r.Session}
	if dir := app.Getenv("HOOKMUX_RUNTIME_DIR"); dir != "" {
		words = append([]string{"env", "HOOKMUX_RUNTIME_DIR=" + dir}, words...)
	}
	return quote.Line(words), nil
}
