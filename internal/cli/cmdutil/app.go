// Package cmdutil has what every verb of hookmux uses: the App (streams,
// environment, folders, the hub), exit codes, checks of arguments, questions to
// the person.
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

	"golang.org/x/term"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/seat"
	"github.com/hookmux/hookmux/internal/platform/hubstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// App is everything a run of the program touches besides the hub.
type App struct {
	Args    []string
	Environ []string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Table   proc.Table // who is who, for the hub's authority
	// Facts and Asker play the machine in tests: who sits where, and what they
	// type. Nil, as in the program itself: this machine.
	Facts authority.Source
	Asker seat.Asker
}

// Getenv reads a variable of the environment the program was started with.
func (app *App) Getenv(name string) string {
	for i := len(app.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(app.Environ[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}

// Dirs are the folders and files hookmux uses.
func (app *App) Dirs() (paths.Dirs, error) { return paths.Find(app.Getenv) }

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

// HubWait is how long a hub may take for what it answers at once.
const HubWait = 10 * time.Second

// AskHub finds out whether a hub answers.
func AskHub(ctx context.Context, c *client.Client) error {
	asked, cancel := context.WithTimeout(ctx, HubWait)
	defer cancel()
	_, err := c.Info(asked)
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

// Style has colours only on a terminal that wants them.
func (app *App) Style() text.Style {
	f, ok := app.Stdout.(*os.File)
	return text.Style{Color: ok && term.IsTerminal(int(f.Fd())) && app.Getenv("NO_COLOR") == "" && app.Getenv("TERM") != "dumb"}
}

// PrintJSON writes a value, indented.
func (app *App) PrintJSON(v any) error { return termsafe.WriteJSON(app.Stdout, v, true) }

// Say writes a line to stdout.
func (app *App) Say(format string, args ...any) { fmt.Fprintf(app.Stdout, format+"\n", args...) }

// Cwd is the folder the program runs in; empty when it is gone.
func (app *App) Cwd() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// Catalogue is the agents that hookmux knows, with those the user described.
func (app *App) Catalogue() (*agent.Catalogue, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	catalogue, _ := agent.Load(dirs.Config+"/agents", dirs.System+"/agents") // the hub reports problems
	return catalogue, nil
}
