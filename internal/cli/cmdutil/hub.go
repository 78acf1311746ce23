package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/install/programcopy"
	"github.com/hookmux/hookmux/internal/platform/hubstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// ConnectHub gives a client of a running hub, starting one when there is none.
func (app *App) ConnectHub(ctx context.Context) (*client.Client, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	c := &client.Client{Socket: dirs.Socket()}
	if err := AskHub(ctx, c); err == nil {
		return c, nil
	} else if !errors.Is(err, client.ErrNoHub) && !hungUp(err) {
		return nil, err
	}
	if err := app.StartHub(ctx, dirs, c); err != nil {
		return nil, err
	}
	return c, nil
}

// CallHub calls one method of the hub, starting one when there is none.
func (app *App) CallHub(ctx context.Context, method string, params, result any) error {
	c, err := app.ConnectHub(ctx)
	if err != nil {
		return err
	}
	return c.Call(ctx, method, params, result)
}

// HubWait is how long a hub may take for what it answers at once.
const HubWait = 10 * time.Second

// AskHub finds out whether a hub answers.
func AskHub(ctx context.Context, c *client.Client) error {
	return inTime(ctx, func(asked context.Context) error {
		_, err := c.Info(asked)
		return err
	})
}

// inTime asks a hub something that it answers at once, and says so where it does
// not.
func inTime(ctx context.Context, ask func(asked context.Context) error) error {
	asked, cancel := context.WithTimeout(ctx, HubWait)
	defer cancel()
	err := ask(asked)
	if err != nil && asked.Err() != nil && ctx.Err() == nil {
		return errors.New("the hub is running and does not answer; `hookmux hub restart` ends it and starts another")
	}
	return err
}

// hungUp reports that the hub died or stopped while it had the call.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// StartHub starts a hub and waits until it answers.
func (app *App) StartHub(ctx context.Context, dirs paths.Dirs, c *client.Client) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	program = programcopy.Stable(dirs, program)
	until := time.Now().Add(10 * time.Second)
	err = hubstart.Ensure(dirs, program, hubstart.Options{Env: app.Environ, Patient: true}, until, func() error {
		_, err := c.Info(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("the hub does not start: %w; its log is %s", err, dirs.Log())
	}
	return nil
}

// RunningHub gives a client that never starts a hub.
func (app *App) RunningHub() (*client.Client, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	return &client.Client{Socket: dirs.Socket()}, nil
}

// ReadHub gives a client of the hub that runs. Reading never starts one.
func (app *App) ReadHub(ctx context.Context) (c *client.Client, err error) {
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

// ReadOnce asks the hub that runs one thing that it answers at once, and asks
// again if it was just going. Reading never starts one.
func (app *App) ReadOnce(ctx context.Context, ask func(asked context.Context, c *client.Client) error) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	c := &client.Client{Socket: dirs.Socket()}
	for first := true; ; first = false {
		err := inTime(ctx, func(asked context.Context) error { return ask(asked, c) })
		switch {
		case errors.Is(err, client.ErrNoHub):
			why := app.ExplainNoHub(dirs)
			if dirs.Installation() == nil {
				why += "; `hookmux setup` hooks your agents"
			}
			return FailWith(ExitNoHub, why)
		case !hungUp(err) || !first:
			return err
		}
	}
}

// WaitForHub gives a client for following: where no hub runs, the person is told
// that the next one is waited for.
func (app *App) WaitForHub(ctx context.Context) (*client.Client, error) {
	c, err := app.RunningHub()
	if err != nil {
		return nil, err
	}
	if err := AskHub(ctx, c); errors.Is(err, client.ErrNoHub) {
		fmt.Fprintln(app.Stderr, "no hub is running; waiting for the next, which the next hook starts (Ctrl-C ends)")
	}
	return c, nil
}

// ExplainNoHub says why no hub runs, and what to do about it.
func (app *App) ExplainNoHub(dirs paths.Dirs) string {
	if err := dirs.MakeRuntime(); err != nil {
		return "the hub is not running and cannot be started: " + err.Error()
	}
	if err := dirs.CheckSocket(); err != nil {
		return "the hub is not running and cannot be started: " + err.Error()
	}
	if _, err := hubstart.FindProgram(app.Getenv); err != nil {
		return "the hub is not running and hooks cannot start it: " + err.Error()
	}
	if until, paused := hubstart.Paused(dirs); paused {
		return "the hub died several times within a minute; it is not started again before " +
			until.Local().Format("15:04:05") +
			". Its log is " + dirs.Log() + "; `hookmux hub start` tries at once"
	}
	return "the hub is not running; the next hook starts it, or `hookmux hub start`"
}
