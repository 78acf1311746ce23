// Package hubcmd has `hookmux hub`: running, starting and stopping the hub.
package hubcmd

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/seat"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/hub"
	"github.com/hookmux/hookmux/internal/judge"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/hubstart"
	"github.com/hookmux/hookmux/internal/platform/logrotate"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/upgrades"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
)

// HubCommand is `hookmux hub`.
func HubCommand(app *cmdutil.App) *cobra.Command {
	var service bool
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Run the hub here, in the foreground; or start, stop it",
		Long: `The hub is the one process behind all hooks. Whoever needs it first starts it,
so there is rarely a reason to run this by hand. It ends cleanly on SIGTERM.

Under systemd or launchd use --service: while a hub that somebody else started is
running it waits, and takes over when that one ends.`,
		Example: "  hookmux hub          # in the foreground\n  hookmux hub start    # in the background\n  hookmux " +
			"hub stop",
		Args: cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runHub(cmd.Context(), app, service) },
	}
	cmd.Flags().BoolVar(&service, "service", false, "for service managers: wait while another hub runs")
	cmd.AddCommand(
		&cobra.Command{
			Use: "start", Short: "Start the hub in the background", Args: cmdutil.ExactArgs(),
			Example: "  hookmux hub start",
			RunE:    func(cmd *cobra.Command, _ []string) error { return hubStart(cmd.Context(), app) },
		},
		&cobra.Command{
			Use: "stop", Short: "Stop the hub; the next hook starts it again", Args: cmdutil.ExactArgs(),
			Example: "  hookmux hub stop",
			Long: `Stops the hub once everything acknowledged is stored. Hooks keep working: the
next one starts a new hub. To switch everything to neutral, use ` + "`hookmux off`.",
			RunE: func(cmd *cobra.Command, _ []string) error { return hubStop(cmd.Context(), app) },
		},
		&cobra.Command{
			Use: "restart", Short: "End the hub, also one that does not answer, and start another",
			Args: cmdutil.ExactArgs(), Example: "  hookmux hub restart",
			Long: `Stops the hub once everything acknowledged is stored, and starts another. A hub
that does not answer (it hangs, or was stopped) is ended all the same; what it
acknowledged is on disk.`,
			RunE: func(cmd *cobra.Command, _ []string) error { return hubRestart(cmd.Context(), app) },
		},
	)
	return cmd
}

func runHub(ctx context.Context, app *cmdutil.App, service bool) error {
	auto := app.Getenv(hubstart.LockVariable) != ""
	person := byPerson(app, auto)
	dirs, err := hubDirs(app, person)
	if err != nil {
		return err
	}
	if err := dirs.CheckServing(app.Getenv); err != nil {
		return err
	}
	if err := checkLimits(); err != nil {
		return err
	}
	hideMemory()
	// On a full disk a missing note counts as guards on.
	_ = guardnote.Write(dirs.State, judge.New(dirs, app.LiveSettings).Covers())
	program, _ := os.Executable()
	o := hub.Options{Dirs: dirs, Table: app.Table, Facts: app.Facts, Asker: app.Asker, Version: version.String,
		Program: program, Log: logrotate.New(app.Stderr, dirs.Log(), hubstart.MaxLog), Person: person,
		LiveSettings: app.LiveSettings}
	if person {
		o.Environment = app.Environ
	}
	used := upgrades.WasUsed(dirs.State)
	h, err := hub.New(o)
	for service && errors.Is(err, hubstart.ErrRunning) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		if !hubstart.HubHoldsLock(dirs) {
			h, err = hub.New(o)
		}
	}
	if errors.Is(err, hubstart.ErrRunning) {
		if auto {
			return nil // somebody was faster; that is all the starter wanted
		}
		return errors.New("a hub is already running; `hookmux status` shows it")
	}
	if err != nil {
		return err
	}
	_ = upgrades.Note(dirs.State, version.String, used, time.Now()) // the doctor then says nothing about it
	steady, stop := context.WithCancel(ctx)
	defer stop()
	go steadyHeap(steady)
	return h.Run(ctx)
}

// byPerson reports whether a person starts this hub, in the foreground or by a
// command of theirs. The hub serves everybody, so what anybody else has put
// into the environment must not count.
func byPerson(app *cmdutil.App, auto bool) bool {
	judge := seat.NewJudge(agent.Builtin(), app.Table, app.Facts, 0)
	pids := []int{os.Getpid()}
	if auto {
		pids = []int{os.Getppid()} // the starter waits for us
	}
	for _, pid := range pids {
		if judge.May(authority.Decide, proc.Cred{UID: os.Getuid(), PID: pid}, nil).OK {
			return true
		}
	}
	return false
}

// hubDirs are the places of the hub. For one that no person started, variables
// that name places do not count, unless it was given a runtime dir of its own
// and so keeps to itself.
func hubDirs(app *cmdutil.App, person bool) (paths.Dirs, error) {
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

func hubStart(ctx context.Context, app *cmdutil.App) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	c := &client.Client{Socket: dirs.Socket()}
	if err := cmdutil.AskHub(ctx, c); err == nil {
		info, err := c.Info(ctx)
		if err == nil {
			app.Say("the hub is already running, pid %d", info.PID)
		}
		return err
	}
	return startNow(ctx, app, dirs, c)
}

// startNow starts a hub that a person asks for, which ends every pause.
func startNow(ctx context.Context, app *cmdutil.App, dirs paths.Dirs, c *client.Client) error {
	_ = hubstart.Forget(dirs)
	if err := app.StartHub(ctx, dirs, c); err != nil {
		return err
	}
	info, err := c.Info(ctx)
	if err != nil {
		return err
	}
	app.Say("the hub is running, pid %d", info.PID)
	return nil
}

func hubStop(ctx context.Context, app *cmdutil.App) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	c, err := app.RunningHub()
	if err != nil {
		return err
	}
	before := 0
	if err := cmdutil.AskHub(ctx, c); err != nil && !errors.Is(err, client.ErrNoHub) {
		return err
	}
	if info, err := c.Info(ctx); err == nil {
		before = info.PID
	}
	if err := c.Call(ctx, wire.MethodStop, wire.StopParams{Reason: "hookmux hub stop"}, nil); err != nil {
		if errors.Is(err, client.ErrNoHub) {
			app.Say("the hub is not running")
			return nil
		}
		return err
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if !hubstart.HubHoldsLock(dirs) {
			app.Say("the hub has stopped")
			return nil
		}
		if info, err := c.Info(ctx); err == nil && before != 0 && info.PID != before {
			app.Say("the hub has stopped; another one took its place, pid %d", info.PID)
			return nil
		}
	}
	return errors.New("the hub was told to stop and is still storing events; `hookmux status` shows it")
}
