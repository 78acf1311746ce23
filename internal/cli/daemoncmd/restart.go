package daemoncmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

const (
	// stopWait is how long a daemon may take to answer that it stops.
	stopWait = 3 * time.Second
	// endWait is how long it may take to end after that, and after each signal.
	endWait = 10 * time.Second
)

// daemonRestart ends the daemon, whatever state it is in, and starts another.
func daemonRestart(ctx context.Context, app *cmdutil.App) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	c := &client.Client{Socket: dirs.Socket()}
	if daemonstart.DaemonHoldsLock(dirs) {
		if err := endDaemon(ctx, app, dirs, c); err != nil {
			return err
		}
	}
	return startNow(ctx, app, dirs, c)
}

// endDaemon asks the daemon to stop, and makes it end if it doesn't answer. The daemon
// decides itself who may stop it; if it can't, the same rules are applied here.
func endDaemon(ctx context.Context, app *cmdutil.App, dirs paths.Dirs, c *client.Client) error {
	asked, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	err := c.Call(asked, wire.MethodStop, wire.StopParams{Reason: "hookmux daemon restart"}, nil)
	var refused *client.RefusedError
	if errors.As(err, &refused) {
		return err
	}
	if err == nil && waitForEnd(ctx, dirs) {
		return nil
	}
	if !daemonstart.DaemonHoldsLock(dirs) {
		return nil // it was just going by itself, for a newer one
	}
	if app.Table != nil {
		peer := proc.Cred{PID: os.Getpid(), UID: os.Getuid()}
		v := terminal.NewEvaluator(agent.Builtin(), app.Table, app.Facts, 0).May(authority.Decide, peer,
			func() []string { return app.Environ })
		if !v.OK {
			return cmdutil.FailWith(cmdutil.ExitDenied, v.Reason())
		}
	}
	pid := daemonstart.DaemonPID(dirs)
	if pid == 0 && !daemonstart.DaemonHoldsLock(dirs) {
		return nil
	}
	if pid == 0 {
		return errors.New("the daemon doesn't answer, and hookmux can't tell which process it is; end it yourself")
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := sendSignal(pid, signal); err != nil {
			return fmt.Errorf("can't end the daemon (process %d): %w", pid, err)
		}
		if waitForEnd(ctx, dirs) {
			return nil
		}
	}
	return fmt.Errorf("the daemon (process %d) doesn't end", pid)
}

func waitForEnd(ctx context.Context, dirs paths.Dirs) bool {
	for end := time.Now().Add(endWait); ctx.Err() == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if !daemonstart.DaemonHoldsLock(dirs) {
			return true
		}
	}
	return false
}
