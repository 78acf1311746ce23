// Package daemoncmd implements `hookmux daemon`: running, starting and stopping the daemon.
package daemoncmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/daemon"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/logrotate"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/version/upgrades"
	"github.com/hookmux/hookmux/internal/wire"
)

// DaemonCommand is `hookmux daemon`.
func DaemonCommand(app *cmdutil.App) *cobra.Command {
	var service, asJSON bool
	cmd := &cobra.Command{
		Use:   "daemon",
		Short: "Show, start, stop or restart the daemon",
		Long: `The daemon is the process behind all hooks. A hook starts it, and so does every
command that changes something; commands that only list never do. Without a command,
shows whether it's running.`,
		Example: "  hookmux daemon\n  hookmux daemon start\n  hookmux daemon restart",
		Args:    cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !service && app.IsTerminal() && app.Getenv(daemonstart.LockVariable) == "" {
				return daemonStatus(cmd.Context(), app, asJSON)
			}
			err := runDaemon(cmd.Context(), app, service) // what hooks and services start has no terminal
			if errors.Is(err, errRunning) {
				return daemonStatus(cmd.Context(), app, asJSON)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&service, "service", false, "")
	_ = cmd.Flags().MarkHidden("service") // it's there: this can't fail
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	status := &cobra.Command{
		Use: "status", Short: "Show whether the daemon is running", Args: cmdutil.ExactArgs(), Example: "  hookmux daemon status --json",
		Long: `Shows whether the daemon is running: its process, version, socket and log. Exits 69 if
it isn't.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return daemonStatus(cmd.Context(), app, asJSON) },
	}
	status.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	run := &cobra.Command{
		Use: "run", Short: "Run the daemon in the foreground until Ctrl-C", Args: cmdutil.ExactArgs(), Example: "  hookmux daemon run",
		Long: `Runs the daemon in the foreground until Ctrl-C. Under systemd or launchd use --service:
it waits while another daemon is running and takes over when that one stops.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDaemon(cmd.Context(), app, service) },
	}
	run.Flags().BoolVar(&service, "service", false, "for service managers: wait while another daemon runs")
	cmd.AddCommand(status, run,
		&cobra.Command{
			Use: "start", Short: "Start the daemon in the background", Args: cmdutil.ExactArgs(),
			Example: "  hookmux daemon start",
			RunE:    func(cmd *cobra.Command, _ []string) error { return daemonStart(cmd.Context(), app) },
		},
		&cobra.Command{
			Use: "stop", Short: "Stop the daemon; the next hook starts it again", Args: cmdutil.ExactArgs(),
			Example: "  hookmux daemon stop",
			Long: `Stops the daemon once every acknowledged event is stored. Hooks keep working: the
next one starts it again. To turn off all hooks and guards, use ` + "`hookmux off`.",
			RunE: func(cmd *cobra.Command, _ []string) error { return daemonStop(cmd.Context(), app) },
		},
		&cobra.Command{
			Use: "restart", Short: "Restart the daemon, even if it hangs",
			Args: cmdutil.ExactArgs(), Example: "  hookmux daemon restart",
			Long: `Stops the daemon once every acknowledged event is stored, and starts a new one. A
daemon that hangs is killed; what it acknowledged is on disk.`,
			RunE: func(cmd *cobra.Command, _ []string) error { return daemonRestart(cmd.Context(), app) },
		},
	)
	return cmd
}

var errRunning = errors.New("a daemon is already running; `hookmux daemon status` shows it")

func runDaemon(ctx context.Context, app *cmdutil.App, service bool) error {
	auto := app.Getenv(daemonstart.LockVariable) != ""
	person := app.Given == nil && byUser(app, auto) // hookmux-start starts it for every caller
	dirs, err := daemonDirs(app, person)
	if err != nil {
		return err
	}
	if app.Given != nil {
		app.Stderr = daemonstart.OpenLog(dirs)
	} else if dirs.IsSystem() {
		return errors.New("hookmux's system service starts the daemon: run `hookmux daemon start`")
	}
	if err := dirs.CheckServing(app.Getenv); err != nil {
		return err
	}
	if err := checkLimits(); err != nil {
		return err
	}
	hideMemory()
	useEnviron(dirs.DaemonEnviron(os.Environ(), daemonstart.LockVariable))
	// On a full disk, a missing note means that guards are on.
	_ = guardnote.Write(dirs.State, evaluate.New(dirs, app.LiveSettings).Covers())
	program, _ := os.Executable()
	o := daemon.Options{Dirs: dirs, Table: app.Table, Facts: app.Facts, Asker: app.Asker, Version: version.String,
		Program: program, Log: logrotate.New(app.Stderr, dirs.Log(), daemonstart.MaxLog), Person: person,
		LiveSettings: app.LiveSettings, Given: app.Given, Removed: agents.WatchRemoved(dirs, os.Getenv)}
	if person {
		o.Environment = app.Environ
	} else if ignored := config.Variables(app.Environ); len(ignored) > 0 {
		fmt.Fprintf(app.Stderr, "hookmux: ignoring %s: hookmux doesn't trust the terminal that started the daemon\n",
			strings.Join(ignored, ", "))
	}
	if err := upgrades.CheckFormat(dirs.State); err != nil {
		return err
	}
	used := upgrades.WasUsed(dirs.State)
	h, err := daemon.New(o)
	if err == nil && !auto && !service && app.IsTerminal() {
		fmt.Fprintln(app.Stderr, "running in the foreground until Ctrl-C; `hookmux daemon start` runs it in the background")
	}
	for service && errors.Is(err, daemonstart.ErrRunning) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		if !daemonstart.DaemonHoldsLock(dirs) {
			h, err = daemon.New(o)
		}
	}
	if errors.Is(err, daemonstart.ErrRunning) {
		if auto || app.Given != nil {
			return nil // another one was faster; that is all the starter wanted
		}
		return errRunning
	}
	if err != nil {
		return err
	}
	_ = upgrades.Note(dirs.State, version.String, used, time.Now()) // the doctor then says nothing about it
	steady, stop := context.WithCancel(ctx)
	defer stop()
	StaySmall(steady)
	return h.Run(ctx)
}

// daemonStatus shows the daemon that is running.
func daemonStatus(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	var info *client.Info
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) (err error) {
		info, err = c.Info(ctx)
		return err
	}); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(map[string]any{"pid": info.PID, "version": info.Version, "uptime": info.Uptime, "socket": info.Socket, "log": dirs.Log()})
	}
	app.Say("the daemon is running, pid %d, version %s, up %s", info.PID, termsafe.Line(info.Version, 40),
		text.Ago(time.Duration(info.Uptime*float64(time.Second))))
	app.Say("socket  %s", termsafe.Line(app.Shorten(info.Socket), 200))
	app.Say("log     %s", app.Shorten(dirs.Log()))
	return nil
}

// useEnviron makes a list the environment of this process, and so of everything it starts.
func useEnviron(environ []string) {
	os.Clearenv()
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		_ = os.Setenv(name, value) // a name that cannot be set is none
	}
}

// byUser reports whether the user starts this daemon, in the foreground or by a command. The
// daemon serves everything, so what another program has put into the environment must not be
// used.
func byUser(app *cmdutil.App, auto bool) bool {
	evaluator := terminal.NewEvaluator(agent.Builtin(), app.Table, app.Facts, 0)
	pids := []int{os.Getpid()}
	if auto {
		pids = []int{os.Getppid()} // the starter waits for us
	}
	for _, pid := range pids {
		if evaluator.May(authority.Decide, proc.Cred{UID: os.Getuid(), PID: pid}, nil).OK {
			return true
		}
	}
	return false
}

// daemonDirs returns the places of the daemon. For one that wasn't started by the user,
// variables that name places are ignored, unless it was given a runtime dir of its own and
// so keeps to itself.
func daemonDirs(app *cmdutil.App, person bool) (paths.Dirs, error) {
	chosen := app.Getenv(paths.RuntimeVariable)
	if person || chosen != "" && !paths.IsDefaultRuntime(chosen, app.Getenv) {
		return app.Dirs()
	}
	plain, err := paths.RuntimeOnly(func(string) string { return "" })
	byUser := err == nil && plain.Home == "" // found by the user id alone
	return paths.Find(func(name string) string {
		if strings.HasPrefix(name, "XDG_") || name == paths.RuntimeVariable || byUser && name == "HOME" {
			return ""
		}
		return app.Getenv(name)
	})
}

func daemonStart(ctx context.Context, app *cmdutil.App) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	c := &client.Client{Socket: dirs.Socket()}
	if err := cmdutil.AskDaemon(ctx, c); err == nil {
		info, err := c.Info(ctx)
		if err == nil {
			app.Say("the daemon is already running, pid %d", info.PID)
		}
		return err
	}
	return startNow(ctx, app, dirs, c)
}

// startNow starts a daemon that the user asks for, which ends every pause.
func startNow(ctx context.Context, app *cmdutil.App, dirs paths.Dirs, c *client.Client) error {
	_ = daemonstart.Forget(dirs)
	if err := app.StartDaemon(ctx, dirs, c); err != nil {
		return err
	}
	info, err := c.Info(ctx)
	if err != nil {
		return err
	}
	app.Say("the daemon is running, pid %d", info.PID)
	return nil
}

// sayFleet says what goes on in a fleet without this machine's daemon.
func sayFleet(app *cmdutil.App, in *wire.FleetStatus) {
	switch {
	case in.Serves:
		app.Say("hookmux-fleet goes on serving the fleet to the other machines; `hookmux fleet leave --delete-fleet` ends the fleet")
	case in.Joined:
		app.Say("the fleet shows this machine as lost until a daemon runs here; `hookmux fleet leave` takes it out")
	}
}

func daemonStop(ctx context.Context, app *cmdutil.App) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	c, err := app.RunningDaemon()
	if err != nil {
		return err
	}
	before := 0
	if err := cmdutil.AskDaemon(ctx, c); err != nil && !errors.Is(err, client.ErrNoDaemon) {
		return err
	}
	if info, err := c.Info(ctx); err == nil {
		before = info.PID
	}
	var in wire.FleetStatus
	_ = c.Call(ctx, wire.MethodFleetStatus, nil, &in) // what is said at the end can do without
	if err := c.Call(ctx, wire.MethodStop, wire.StopParams{Reason: "hookmux daemon stop"}, nil); err != nil {
		if errors.Is(err, client.ErrNoDaemon) {
			app.Say("the daemon isn't running")
			return nil
		}
		return err
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if !daemonstart.DaemonHoldsLock(dirs) {
			app.Say("the daemon has stopped")
			sayFleet(app, &in)
			return nil
		}
		if info, err := c.Info(ctx); err == nil && before != 0 && info.PID != before {
			app.Say("the daemon has stopped; a new one is running, pid %d", info.PID)
			return nil
		}
	}
	return errors.New("the daemon is stopping but still storing events; `hookmux status` shows it")
}
