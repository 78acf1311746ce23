// Package agents has the verbs that touch agents' programs and files: starting,
// resuming, installing, examining and verifying them.
package agents

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/launch/start"
	"github.com/hookmux/hookmux/internal/shell/quote"
	"github.com/hookmux/hookmux/internal/version"
)

// RunCommand is `hookmux run`.
func RunCommand(app *cmdutil.App) *cobra.Command {
	var dryRun, asJSON, daemonOnly, noTrust bool
	var hooks []string
	cmd := &cobra.Command{
		Use:   "run [--dry-run [--json]] AGENT [ARGUMENTS…]",
		Short: "Start an agent with hooks for this launch only",
		Long: `Starts an agent with hookmux's hooks on its command line, for this launch only; no
file is edited. Everything after the agent's name is passed to the agent, except
--hook FILE. Its own settings and hooks still apply. Commands that don't run a
session (such as claude mcp list) are passed through. hookmux replaces itself with
the agent, so exit code, signals and terminal are the agent's.

AGENT is a name that hookmux knows, or the path of such an agent's program.`,
		Example: `  hookmux run claude                          # claude, with hooks
  hookmux run claude -p "fix the tests" --model opus
  hookmux run codex exec "fix the tests"
  hookmux run claude --hook ./gate.ts         # with a TypeScript hook, for this session only
  hookmux run --dry-run codex                 # show the command line`,
		Args:                  cobra.ArbitraryArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if daemonOnly {
				return newStarter(app, app.Environ).SpawnDaemon()
			}
			if len(args) == 0 {
				return cmdutil.UsageError("AGENT is missing; see `%s --help`", cmd.CommandPath())
			}
			if asJSON && !dryRun {
				return cmdutil.UsageError("--json goes with --dry-run; put the agent's own flags behind its name")
			}
			more, own, err := hooksBehind(args[1:])
			if err != nil {
				return err
			}
			hooks = append(hooks, more...)
			for _, word := range own {
				if word == "--dry-run" || word == "--no-trust" {
					app.PrintNotes([]string{fmt.Sprintf("%s goes to %s; for hookmux, put it before %s", word, args[0], args[0])})
				}
				if word == "--" {
					break
				}
			}
			for _, file := range hooks {
				if _, err := os.Stat(file); err != nil {
					return cmdutil.FileError(file, err)
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
			if err := start.LoadHooks(cmd.Context(), app.ConnectDaemon, plan, hooks); err != nil {
				return launchError(app, err)
			}
			return launchError(app, starter.Run(cmd.Context(), plan))
		},
	}
	// What follows the agent's name is none of our business.
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the command line instead of running it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --dry-run: as JSON {program, argv, injected, notes}")
	cmd.Flags().BoolVar(&noTrust, "no-trust", false, "don't mark hookmux's hooks as trusted; with Codex you then "+
		"see only when a turn ends")
	cmd.Flags().StringArrayVar(&hooks, "hook", nil, "load a TypeScript or JavaScript hook for this session only; "+
		"repeatable")
	cmd.Flags().BoolVar(&daemonOnly, "start-daemon", false, "start the daemon in the background and return")
	_ = cmd.Flags().MarkHidden("start-daemon") // the flag is there: it can't fail
	return cmd
}

// newStarter is what starts agents on this machine, in an environment.
func newStarter(app *cmdutil.App, environ []string) *start.Starter {
	there := *app
	there.Environ = environ
	s := &start.Starter{
		Environ: environ, Getenv: there.Getenv, Cwd: there.Cwd(), Project: projectFolder(there.Cwd()),
		Version: version.String, Table: app.Table, Programs: ownPrograms,
		Host:       func() (*install.Host, error) { return installHost(&there) },
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
	app.Say("%s", quote.Line(plan.Argv))
	app.PrintNotes(notes)
	return nil
}

// hooksBehind takes --hook out of what stands behind the agent's name: given
// to the agent it would be refused at best, and at worst the session would
// begin without a guard that was asked for. Behind a -- everything is the
// agent's.
func hooksBehind(args []string) (files, own []string, err error) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return files, append(own, args[i:]...), nil
		}
		if file, ok := strings.CutPrefix(args[i], "--hook="); ok {
			files = append(files, file)
			continue
		}
		if args[i] != "--hook" {
			own = append(own, args[i])
			continue
		}
		if i++; i == len(args) {
			return nil, nil, cmdutil.UsageError("--hook needs a file, for example --hook ./gate.ts")
		}
		files = append(files, args[i])
	}
	return files, own, nil
}
