// Package agents has the verbs that touch agents' programs and files: starting,
// resuming, installing, examining and verifying them.
package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/hubstart"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/resumeargs"
	"github.com/hookmux/hookmux/internal/shell/quote"
)

// RunCommand is `hookmux run`.
func RunCommand(app *cmdutil.App) *cobra.Command {
	var dryRun, asJSON, hubOnly, noTrust bool
	var hooks []string
	cmd := &cobra.Command{
		Use:   "run [--dry-run [--json]] AGENT [ARGUMENTS…]",
		Short: "Start an agent with hooks for this launch; no file is edited",
		Long: `Starts an agent with hookmux's hooks given on its command line, for this launch
only. Everything behind the agent's name is the agent's own, but --hook FILE up to
a --; its own settings and hooks stay in force. Commands that run no session (such
as claude mcp list) are passed on untouched. The agent takes this process's place,
so exit code, signals and terminal are its own.

AGENT is a name hookmux knows, or the path of such an agent's program.`,
		Example: `  hookmux run claude                          # as claude, seen by hookmux
  hookmux run claude -p "fix the tests" --model opus
  hookmux run codex exec "fix the tests"
  hookmux run claude --hook ./gate.ts         # with a TypeScript hook, for this session only
  hookmux run --dry-run codex                 # show what would be run`,
		Args:                  cobra.ArbitraryArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if hubOnly {
				return spawnHub(app)
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
			l, err := planLaunch(app, args[0], own, noTrust)
			if err != nil {
				return err
			}
			if dryRun {
				return showLaunch(app, l, asJSON)
			}
			if err := loadForLaunch(cmd.Context(), app, l, hooks); err != nil {
				return err
			}
			return launchAgent(cmd.Context(), app, l)
		},
	}
	// What follows the agent's name is none of our business.
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the command line instead of running it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --dry-run: as JSON {program, argv, injected, notes}")
	cmd.Flags().BoolVar(&noTrust, "no-trust", false, "do not have the agent trust hookmux's hooks; of Codex only "+
		"the ends of turns are then seen")
	cmd.Flags().StringArrayVar(&hooks, "hook", nil, "load a TypeScript or JavaScript hook for this session only; "+
		"may be given several times")
	cmd.Flags().BoolVar(&hubOnly, "start-hub", false, "start the hub in the background and return")
	_ = cmd.Flags().MarkHidden("start-hub") // the flag is there: it can't fail
	return cmd
}

// launchPlan is a start of an agent, worked out.
type launchPlan struct {
	agent    *agent.Agent
	program  string
	argv     []string
	injected bool
	notes    []string
	active   string

	untrusted bool // it was not told to trust anything
	overlay   *launch.Overlay
	env       string // the variable that names the overlay
}

func planLaunch(app *cmdutil.App, name string, args []string, noTrust bool) (*launchPlan, error) {
	a, program, err := findLaunchAgent(app, name)
	if err != nil {
		return nil, err
	}
	// Hooks that are installed run anyway; given here too, each event would
	// come twice. Those that would not run are given.
	there := deliveryOf(app, a)
	cannot := launch.Check(a)
	if cannot != nil && !there.Ours {
		return nil, cmdutil.UsageError("%v", cannot)
	}
	self, hook, err := ownPrograms()
	if err != nil {
		return nil, err
	}
	found, err := launch.Find(launch.Search{
		Agent: a.Name, Program: program, Path: app.Getenv("PATH"), Self: self, Hook: hook, Args: args,
		Active: launch.ParseActive(app.Getenv(launch.ActiveVariable)), Line: processLineage(app),
	})
	if err != nil {
		return nil, cmdutil.FailWith(cmdutil.ExitNotFound, err.Error())
	}
	var notes []string
	if there.Ours && !there.Whole {
		notes = append(notes, fmt.Sprintf("%s: not all of its installed hooks run (%s); see `hookmux doctor %s`",
			a.Name, there.Why, a.Name))
	}
	if there.Whole || cannot != nil {
		argv := append([]string{found.Program}, args...)
		return &launchPlan{agent: a, program: found.Program, argv: argv, notes: notes, active: found.Next(argv)}, nil
	}
	argv, injected, more, err := launch.Plan(launch.Request{Agent: a, Args: args, Program: found.Program, Hook: hook,
		Running:   there.Events,
		Untrusted: noTrust, Config: agentConfig(app, a)})
	if err != nil {
		return nil, cmdutil.UsageError("%v", err)
	}
	notes = append(notes, more...)
	if over := planOverlay(app, a, found.Program); injected && !noTrust && over != nil {
		notes = append(notes, fmt.Sprintf("this %s takes no hooks on its command line, so it runs with %s as its "+
			"folder; what it writes is brought back to %s", a.Title, over.Dir, over.User))
		argv = append([]string{found.Program}, args...)
		return &launchPlan{agent: a, program: found.Program, argv: argv, injected: true, notes: notes,
			active:    found.Next(argv),
			untrusted: true, overlay: over, env: a.Launch.Overlay.Env}, nil
	}
	return &launchPlan{agent: a, program: found.Program, argv: argv, injected: injected, notes: notes,
		active: found.Next(argv), untrusted: noTrust}, nil
}

// agentConfig is an agent's own config file, where it is one of TOML.
func agentConfig(app *cmdutil.App, a *agent.Agent) string {
	dirs, err := app.Dirs()
	if err != nil {
		return ""
	}
	for _, f := range a.Files {
		if f.Scope == install.User && f.Format == "toml" {
			return f.Resolve(dirs.Home, "", app.Getenv)
		}
	}
	return ""
}

// findLaunchAgent knows an agent by its name, or by the path of its program.
func findLaunchAgent(app *cmdutil.App, name string) (*agent.Agent, string, error) {
	var own []string
	if dirs, err := app.Dirs(); err == nil {
		own = []string{filepath.Join(dirs.Config, "agents"), filepath.Join(dirs.System, "agents")}
	}
	catalogue, _ := agent.Load(own...) // the hub reports files that don't load
	if strings.ContainsRune(name, filepath.Separator) {
		base := filepath.Base(name)
		for _, a := range catalogue.Agents() {
			if a.Launch.Program == base {
				return a, name, nil
			}
		}
		if a, ok := catalogue.Agent(base); ok {
			return a, name, nil
		}
		return nil, "", cmdutil.UsageError("%s: hookmux knows no agent whose program is called %s; `hookmux run` "+
			"knows %s", name, base, strings.Join(launch.Can(catalogue.Agents()), ", "))
	}
	a, ok := catalogue.Agent(name)
	if !ok {
		return nil, "", cmdutil.UsageError("%s: hookmux knows no such agent; `hookmux run` knows %s", name,
			strings.Join(launch.Can(catalogue.Agents()), ", "))
	}
	return a, a.Launch.Program, nil
}

// processLineage is this process and those above it.
func processLineage(app *cmdutil.App) []int {
	pids := []int{os.Getpid()}
	if app.Table == nil {
		return append(pids, os.Getppid())
	}
	for _, p := range proc.Ancestry(app.Table, os.Getpid(), 64) {
		if !slices.Contains(pids, p.PID) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

func showLaunch(app *cmdutil.App, l *launchPlan, asJSON bool) error {
	notes := l.notes
	if notes == nil {
		notes = []string{}
	}
	if asJSON {
		return app.PrintJSON(map[string]any{"program": l.program, "argv": l.argv, "injected": l.injected,
			"notes": notes})
	}
	app.Say("%s", quote.Line(l.argv))
	app.Tell(notes)
	return nil
}

func launchAgent(ctx context.Context, app *cmdutil.App, l *launchPlan) error {
	app.Tell(l.notes)
	if l.injected {
		if !l.untrusted {
			tellOnce(app, l.agent)
		}
		if err := hubBeforehand(ctx, app); err != nil {
			// Hooks start it as well, and a session without hub is still one.
			app.Tell([]string{fmt.Sprintf("the hub does not start, so nothing is decided or shown until it does: "+
				"%v; see `hookmux status`", err)})
		}
	}
	if l.overlay != nil {
		return launchOver(app, l)
	}
	leaveNote(app, l)
	err := launch.Exec(l.program, l.argv, launch.Environ(app.Environ, l.active))
	return cmdutil.FailWith(cmdutil.ExitNotRunnable, err.Error())
}

// tellOnce says what a person should know the first time, and remembers.
func tellOnce(app *cmdutil.App, a *agent.Agent) {
	notice := launch.OnceNotice(a)
	if notice == "" {
		return
	}
	dirs, err := app.Dirs()
	if err != nil {
		app.Tell([]string{notice})
		return
	}
	file := filepath.Join(dirs.State, "told-run-"+a.Name)
	if _, err := os.Stat(file); err == nil {
		return
	}
	app.Tell([]string{notice})
	if err := os.MkdirAll(dirs.State, 0o700); err == nil {
		_ = os.WriteFile(file, []byte(notice+"\n"), 0o600) // else it is said again
	}
}

// hubBeforehand starts the hub without waiting for it to answer. A process of
// its own does it, because ours becomes the agent: the hub must not be the
// agent's child, and starting it closes files the agent may have been given.
func hubBeforehand(ctx context.Context, app *cmdutil.App) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	if hubstart.Lives(dirs) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var said bytes.Buffer
	start := exec.CommandContext(ctx, self, "run", "--start-hub")
	start.Env = app.Environ
	start.Stderr = &said
	start.WaitDelay = time.Second
	if err := start.Run(); err != nil {
		if text := strings.TrimSpace(said.String()); text != "" {
			return errors.New(strings.TrimPrefix(text, "hookmux: "))
		}
		return err
	}
	return nil
}

func spawnHub(app *cmdutil.App) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	outcome, err := hubstart.Start(dirs, self, hubstart.Options{Env: app.Environ})
	if err != nil {
		return err
	}
	if outcome == hubstart.Held {
		return fmt.Errorf("it died several times within a minute and waits before the next start; its log is %s",
			dirs.Log())
	}
	return nil
}

// leaveNote tells the hub with which flags this process becomes an agent: most
// hide them behind a title of their own. Without it a session is taken up
// again without its flags.
func leaveNote(app *cmdutil.App, l *launchPlan) {
	dirs, err := app.Dirs()
	if err != nil || l.agent.Resume == nil {
		return
	}
	self, err := proc.System().Lookup(os.Getpid())
	if err != nil {
		return
	}
	args, _ := launch.Strip(l.agent, l.argv[1:])
	_ = resumeargs.Leave(dirs.Runtime, l.agent, resumeargs.Note{PID: self.PID, Start: self.Start, Given: l.injected,
		Dir: app.Cwd()}, args)
}
