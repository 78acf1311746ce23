package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/hub"
	"github.com/hookmux/hookmux/internal/hubstart"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
)

func (w *world) hubCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Run the hub here, in the foreground; or start, stop it",
		Long: `The hub is the one process behind all hooks. Whoever needs it first starts it,
so there is rarely a reason to run this by hand. It ends cleanly on SIGTERM.`,
		Example: "  hookmux hub          # in the foreground\n  hookmux hub start    # in the background\n  hookmux hub stop",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return w.runHub(cmd.Context()) },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "start", Short: "Start the hub in the background", Args: exactly(), Example: "  hookmux hub start",
			RunE: func(cmd *cobra.Command, _ []string) error { return w.hubStart(cmd.Context()) },
		},
		&cobra.Command{
			Use: "stop", Short: "Stop the hub; the next hook starts it again", Args: exactly(), Example: "  hookmux hub stop",
			Long: `Stops the hub once everything acknowledged is stored. Hooks keep working: the
next one starts a new hub. To switch everything to neutral, use ` + "`hookmux off`.",
			RunE: func(cmd *cobra.Command, _ []string) error { return w.hubStop(cmd.Context()) },
		},
	)
	return cmd
}

func (w *world) runHub(ctx context.Context) error {
	dirs, err := w.dirs()
	if err != nil {
		return err
	}
	program, _ := os.Executable()
	auto := w.getenv(hubstart.LockVariable) != ""
	o := hub.Options{Dirs: dirs, Table: w.table, Version: version.String, Program: program, Log: w.stderr}
	if !auto {
		o.Environment = w.environ
	}
	h, err := hub.New(o)
	if errors.Is(err, hubstart.ErrRunning) {
		if auto {
			return nil // somebody was faster; that is all the starter wanted
		}
		return errors.New("a hub is already running; `hookmux status` shows it")
	}
	if err != nil {
		return err
	}
	return h.Run(ctx)
}

func (w *world) hubStart(ctx context.Context) error {
	dirs, err := w.dirs()
	if err != nil {
		return err
	}
	c := &client.Client{Socket: dirs.Socket()}
	if info, err := c.Info(ctx); err == nil {
		w.say("the hub is already running, pid %d", info.PID)
		return nil
	}
	_ = hubstart.Forget(dirs) // a person asking for it ends a pause
	if err := w.startHub(ctx, dirs, c); err != nil {
		return err
	}
	info, err := c.Info(ctx)
	if err != nil {
		return err
	}
	w.say("the hub is running, pid %d", info.PID)
	return nil
}

func (w *world) hubStop(ctx context.Context) error {
	dirs, err := w.dirs()
	if err != nil {
		return err
	}
	c, err := w.running()
	if err != nil {
		return err
	}
	if err := c.Call(ctx, wire.MethodStop, wire.StopParams{Reason: "hookmux hub stop"}, nil); err != nil {
		if errors.Is(err, client.ErrNoHub) {
			w.say("the hub is not running")
			return nil
		}
		return err
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if !hubstart.Lives(dirs) {
			w.say("the hub has stopped")
			return nil
		}
	}
	return errors.New("the hub was told to stop and is still storing events; `hookmux status` shows it")
}
