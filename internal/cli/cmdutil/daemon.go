package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/version/upgrades"
)

// ConnectDaemon returns a client of a running daemon, starting one if there is none.
func (app *App) ConnectDaemon(ctx context.Context) (*client.Client, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	c := &client.Client{Socket: dirs.Socket()}
	if err := AskDaemon(ctx, c); err == nil {
		return c, nil
	} else if !errors.Is(err, client.ErrNoDaemon) && !hungUp(err) {
		return nil, err
	}
	if err := app.StartDaemon(ctx, dirs, c); err != nil {
		return nil, err
	}
	return c, nil
}

// CallDaemon calls one method of the daemon, starting one when there is none.
func (app *App) CallDaemon(ctx context.Context, method string, params, result any) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	return c.Call(ctx, method, params, result)
}

// DaemonWait is how long a daemon may take for what it answers at once.
const DaemonWait = 10 * time.Second

// AskDaemon finds out whether a daemon answers.
func AskDaemon(ctx context.Context, c *client.Client) error {
	return inTime(ctx, func(asked context.Context) error {
		_, err := c.Info(asked)
		return err
	})
}

// inTime asks a daemon something that it answers at once, and says so if it doesn't.
func inTime(ctx context.Context, ask func(asked context.Context) error) error {
	asked, cancel := context.WithTimeout(ctx, DaemonWait)
	defer cancel()
	err := ask(asked)
	if err != nil && asked.Err() != nil && ctx.Err() == nil {
		return errors.New("the daemon isn't responding; restart it with `hookmux daemon restart`")
	}
	return err
}

// hungUp reports that the daemon died or stopped while it had the call.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// StartDaemon starts a daemon and waits until it answers.
func (app *App) StartDaemon(ctx context.Context, dirs paths.Dirs, c *client.Client) error {
	if err := upgrades.CheckFormat(dirs.State); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	program = install.StableProgram(dirs, program)
	until := time.Now().Add(10 * time.Second)
	err = daemonstart.Ensure(dirs, program, daemonstart.Options{Env: app.Environ, Patient: true}, until, func() error {
		_, err := c.Info(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("the daemon doesn't start: %w; its log is %s", err, dirs.Log())
	}
	return nil
}

// RunningDaemon returns a client that never starts a daemon.
func (app *App) RunningDaemon() (*client.Client, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	return &client.Client{Socket: dirs.Socket()}, nil
}

// ReadDaemon returns a client of the daemon that runs. Reading never starts one.
func (app *App) ReadDaemon(ctx context.Context) (c *client.Client, err error) {
	err = app.ReadOnce(ctx, func(asked context.Context, answering *client.Client) error {
		c = answering
		_, err := c.Info(asked)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// NoteLimited says that a list only has an agent's own entries, if hookmux takes the caller
// for one, and returns whether it did. hidden counts the entries that the list leaves out; nil
// if that isn't known.
func (app *App) NoteLimited(ctx context.Context, c *client.Client, entries string, hidden func(*client.Info) int) bool {
	info, err := c.Info(ctx)
	if err != nil || info.Limited == nil {
		return false
	}
	what := "other " + entries + " are hidden"
	if hidden != nil {
		n := hidden(info)
		if n < 1 {
			return false
		}
		what = fmt.Sprintf("%d %s are hidden", n, entries)
		if n == 1 {
			what = "1 " + strings.TrimSuffix(entries, "s") + " is hidden"
		}
	}
	fmt.Fprintln(app.Stderr, app.WrapError(what+": agents only see their own, and hookmux takes this terminal for an agent's "+
		"(`hookmux whoami` says why)"))
	return true
}

// ReadOnce asks the running daemon one thing that it answers at once, and asks again if it
// was just ending. Reading never starts one.
func (app *App) ReadOnce(ctx context.Context, ask func(asked context.Context, c *client.Client) error) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	c := &client.Client{Socket: dirs.Socket()}
	for first := true; ; first = false {
		err := inTime(ctx, func(asked context.Context) error { return ask(asked, c) })
		switch {
		case errors.Is(err, client.ErrNoDaemon):
			why := app.ExplainNoDaemon(dirs)
			if _, installed := paths.ReadInstallation(app.Getenv); !installed {
				why = "the daemon isn't running yet; hook your agents with `hookmux setup`, then start an agent"
			}
			return FailWith(ExitNoDaemon, why)
		case !hungUp(err) || !first:
			return err
		}
	}
}

// WaitForDaemon returns a client for following: if no daemon runs, it says that it waits for
// the next one.
func (app *App) WaitForDaemon(ctx context.Context) (*client.Client, error) {
	c, err := app.RunningDaemon()
	if err != nil {
		return nil, err
	}
	if err := AskDaemon(ctx, c); errors.Is(err, client.ErrNoDaemon) {
		fmt.Fprintln(app.Stderr, "waiting for the daemon to start… (Ctrl-C to quit)")
	}
	return c, nil
}

// explainNoService is ExplainNoDaemon if the system service starts the daemon.
func explainNoService() string {
	if _, _, err := keeper.Send(paths.KeeperSocket, keeper.Ask); err != nil {
		return err.Error() + "; run: " + paths.Repair
	}
	return "the daemon isn't running; start it with `hookmux daemon start`"
}

// ExplainNoDaemon says why no daemon runs, and what to do about it.
func (app *App) ExplainNoDaemon(dirs paths.Dirs) string {
	if dirs.IsSystem() {
		return explainNoService()
	}
	if err := dirs.MakeRuntime(); err != nil {
		return "the daemon isn't running and can't be started: " + err.Error()
	}
	if err := dirs.CheckSocket(); err != nil {
		return "the daemon isn't running and can't be started: " + err.Error()
	}
	if _, err := daemonstart.FindProgram(app.Getenv); err != nil {
		return "the daemon isn't running and hooks can't start it: " + err.Error()
	}
	if until, paused := daemonstart.Paused(dirs); paused {
		return "the daemon died several times within a minute; it is not started again before " +
			until.Local().Format("15:04:05") +
			". Its log is " + dirs.Log() + "; `hookmux daemon start` tries at once"
	}
	return "the daemon isn't running; start it with `hookmux daemon start`"
}
