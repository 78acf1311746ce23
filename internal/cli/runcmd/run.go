package runcmd

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/launch/start"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/version"
)

// This file has the verbs that deal with agents' programs and files: starting, resuming,
// installing, examining and verifying them.

// RunCommand is `hookmux run`.
func RunCommand(app *cmdutil.App) *cobra.Command {
	var dryRun, asJSON, daemonOnly, noTrust bool
	var opts runOptions
	cmd := &cobra.Command{
		Use:   "run AGENT [ARGUMENTS…]",
		Short: "Start an agent with hooks for this launch only",
		Long: `Starts an agent with hookmux's hooks on its command line, for this launch only; no
file is edited. Everything after the agent's name is passed to the agent, except
--hook, --worktree, --prompt and --here. Its own settings and hooks still apply.
Commands that don't run a session (such as claude mcp list) are passed through.
hookmux replaces itself with the agent, so exit code, signals and terminal are the
agent's.

--worktree makes a new git worktree and branch beside the repository, so that
several agents don't get in each other's way; --prompt gives the agent its first
prompt. With either, the agent opens in a tmux window of its own; --here keeps it
in this terminal.

AGENT is a name that hookmux knows, or the path of such an agent's program.`,
		Example: `  hookmux run claude                          # claude, with hooks
  hookmux run claude -p "fix the tests" --model opus
  hookmux run codex exec "fix the tests"
  hookmux run claude --worktree login --prompt "fix the login form"
  hookmux run claude --hook ./gate.ts         # one hook, this session only
  hookmux run --dry-run codex                 # show the command line`,
		Args:                  cobra.ArbitraryArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if daemonOnly {
				return newStarter(app, app.Environ).SpawnDaemon()
			}
			if len(args) == 0 {
				return cmdutil.UsageError("which agent? `hookmux agents` lists them")
			}
			if asJSON && !dryRun {
				return cmdutil.UsageError("--json goes with --dry-run; put the agent's own flags behind its name")
			}
			own, err := opts.takeFrom(args[1:])
			if err != nil {
				return err
			}
			for _, word := range own {
				if word == "--dry-run" || word == "--no-trust" {
					app.PrintNotes([]string{fmt.Sprintf("%s goes to %s; for hookmux, put it before %s", word, args[0], args[0])})
				}
				if word == "--" {
					break
				}
			}
			for _, file := range opts.hooks {
				if _, err := os.Stat(file); err != nil {
					return cmdutil.FileError(file, err)
				}
			}
			work := Work{Agent: args[0], Args: own, Worktree: opts.worktree, Prompt: opts.prompt}
			if opts.inWindow() && !dryRun {
				if noTrust || len(opts.hooks) > 0 {
					return cmdutil.UsageError("--hook and --no-trust are for this terminal; add --here")
				}
				said, err := StartInTmux(cmd.Context(), app, work)
				if err == nil {
					app.Say("%s", said)
				}
				return err
			}
			if work.Prompt != "" || work.Worktree != "" {
				if dryRun {
					work.Worktree = "" // nothing is made
				}
				if own, err = moveThere(cmd.Context(), app, &work); err != nil {
					return err
				}
			}
			starter := newStarter(app, app.Environ)
			plan, err := starter.Plan(args[0], own, noTrust)
			if err != nil {
				return launchError(app, err)
			}
			if dryRun {
				return showLaunch(app, plan, asJSON)
			}
			if err := start.LoadHooks(cmd.Context(), app.ConnectDaemon, plan, opts.hooks); err != nil {
				return launchError(app, err)
			}
			return launchError(app, starter.Run(cmd.Context(), plan))
		},
	}
	// What follows the agent's name is the agent's.
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the command line instead of running it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --dry-run, print JSON: {program, argv, injected, notes}")
	cmd.Flags().BoolVar(&noTrust, "no-trust", false, "don't mark hookmux's hooks as trusted; with Codex you then "+
		"see only when a turn ends")
	cmd.Flags().StringArrayVar(&opts.hooks, "hook", nil, "load a TypeScript or JavaScript hook for this session only; "+
		"repeatable")
	cmd.Flags().StringVar(&opts.worktree, "worktree", "", "work in a new git worktree, with a branch of this name")
	cmd.Flags().StringVar(&opts.prompt, "prompt", "", "the first prompt")
	cmd.Flags().BoolVar(&opts.here, "here", false, "with --worktree or --prompt: in this terminal, not in a tmux window")
	cmd.Flags().BoolVar(&daemonOnly, "start-daemon", false, "start the daemon in the background and return")
	_ = cmd.Flags().MarkHidden("start-daemon") // the flag is there: it can't fail
	return cmd
}

// newStarter returns what starts agents on this machine, in an environment.
func newStarter(app *cmdutil.App, environ []string) *start.Starter {
	there := *app
	there.Environ = environ
	s := &start.Starter{
		Environ: environ, Getenv: there.Getenv, Cwd: there.Cwd(), Project: agents.ProjectFolder(there.Cwd()),
		Version: version.String, Table: app.Table, Programs: agents.OwnPrograms,
		Host:       func() (*install.Host, error) { return agents.InstallHost(&there) },
		PrintNotes: app.PrintNotes,
	}
	s.Dirs, s.DirsError = there.Dirs()
	var err error
	if s.Catalogue, err = there.Catalogue(); err != nil {
		s.Catalogue = agent.Builtin()
	}
	return s
}

// launchError ends the program as the reason wants it.
func launchError(app *cmdutil.App, err error) error {
	var reason *start.Error
	if !errors.As(err, &reason) {
		return err
	}
	switch reason.Kind {
	case start.Usage:
		return cmdutil.UsageError("%s", reason.Text)
	case start.UnknownAgent:
		catalogue, err := app.Catalogue()
		if err != nil {
			return err
		}
		return cmdutil.UnknownAgent(catalogue, reason.Text)
	case start.NotFound:
		return cmdutil.FailWith(cmdutil.ExitNotFound, reason.Text)
	case start.NotRunnable:
		return cmdutil.FailWith(cmdutil.ExitNotRunnable, reason.Text)
	}
	return cmdutil.Exit(reason.Code)
}

func showLaunch(app *cmdutil.App, plan *start.Plan, asJSON bool) error {
	notes := plan.Notes
	if notes == nil {
		notes = []string{}
	}
	if asJSON {
		return app.PrintJSON(map[string]any{"program": plan.Program, "argv": plan.Argv, "injected": plan.Injected,
			"notes": notes})
	}
	app.Say("%s", shellquote.Line(plan.Argv))
	app.PrintNotes(notes)
	return nil
}

// runOptions are the flags that hookmux takes even after the agent's name.
type runOptions struct {
	hooks            []string
	worktree, prompt string
	here             bool
}

// inWindow reports whether the agent gets a tmux window of its own.
func (o *runOptions) inWindow() bool { return !o.here && (o.worktree != "" || o.prompt != "") }

// takeFrom takes hookmux's own flags out of what follows the agent's name: passed to the
// agent, --hook would be rejected at best, and at worst the session would begin without a
// guard that was asked for. After a -- everything is the agent's.
func (o *runOptions) takeFrom(args []string) (own []string, err error) {
	takes := map[string]struct {
		example string
		set     func(value string)
	}{
		"--hook":     {"--hook ./gate.ts", func(v string) { o.hooks = append(o.hooks, v) }},
		"--worktree": {"--worktree login", func(v string) { o.worktree = v }},
		"--prompt":   {`--prompt "fix the tests"`, func(v string) { o.prompt = v }},
	}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(own, args[i:]...), nil
		}
		if args[i] == "--here" {
			o.here = true
			continue
		}
		name, value, joined := strings.Cut(args[i], "=")
		flag, ours := takes[name]
		if !ours {
			own = append(own, args[i])
			continue
		}
		if !joined {
			if i++; i == len(args) {
				return nil, cmdutil.UsageError("%s needs a value, for example %s", name, flag.example)
			}
			value = args[i]
		}
		if value == "" {
			return nil, cmdutil.UsageError("%s is empty; for example %s", name, flag.example)
		}
		flag.set(value)
	}
	return own, nil
}
