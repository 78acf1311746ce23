package remotecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/wire"
)

func addCommand(app *cmdutil.App) *cobra.Command {
	var name string
	var read, bare, readOnly bool
	cmd := &cobra.Command{
		Use:   "add USER@HOST",
		Short: "Add a machine: install hookmux there and pair it",
		Long: `Installs hookmux on another machine over ssh, unless it's there, hooks the agents there,
and pairs it with this machine. Its sessions and requests then show up here.

USER@HOST is what you give to ssh; your ssh config applies. The login must work without a
password, because hookmux keeps the connection in the background. You type two codes: one
that this machine shows, and one that the other machine shows.

--read lets this machine see what happens there, but not answer. --no-hooks copies the
programs but doesn't touch the agents there: you see what their own records say.
--read-only does both.`,
		Example: "  hookmux remote add build@ci.example.org\n  hookmux remote add --read-only ops@db.example.org --name db",
		Args:    cmdutil.ExactArgs("USER@HOST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTarget(args[0]); err != nil {
				return err
			}
			if name == "" {
				name = nameFor(args[0])
			}
			if name == "" {
				return cmdutil.UsageError("%q names no host; write it as `hookmux remote add build@ci.example.org`", args[0])
			}
			if !wire.IsHostName(name) {
				return cmdutil.UsageError("%q can't be the name of a host; choose one with --name: small letters, digits, dots "+
					"and dashes", name)
			}
			scope := wire.ScopeAnswer
			if bare = bare || readOnly; read || readOnly {
				scope = wire.ScopeRead
			}
			return addHost(cmd.Context(), app, args[0], name, scope, bare)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what to call it here (default: the first part of the host's name)")
	cmd.Flags().BoolVar(&read, "read", false, "only see what happens there")
	cmd.Flags().BoolVar(&bare, "no-hooks", false, "don't change the settings of the agents there")
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "only see what happens there, and install nothing but the programs")
	return cmd
}

// connectTime is how long a host may take to connect after it was paired.
const connectTime = 30 * time.Second

func addHost(ctx context.Context, app *cmdutil.App, target, name, scope string, bare bool) error {
	if !app.IsTerminal() {
		return cmdutil.UsageError("run it in your terminal: both machines show a code there that you type")
	}
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	var all []wire.Host
	if err := c.Call(ctx, wire.MethodHosts, nil, &all); err != nil {
		return err
	}
	for _, one := range all {
		if one.Name != name {
			continue
		}
		if one.Kind == wire.HostFleet {
			return cmdutil.UsageError("a machine of the fleet is called %s; choose another name with --name", name)
		}
		return cmdutil.UsageError("there is a host %s already; `hookmux remote remove %s` first, or choose another name with --name", name, name)
	}
	app.Say("looking at %s …", target)
	m, err := reach(ctx, app, target)
	if err != nil {
		return err
	}
	installs, folder := m.program == "", ""
	if installs {
		if folder, err = programsFor(app, target, m); err != nil {
			return err
		}
		m.program = m.data + "/bin/hookmux"
	} else {
		app.Say("%s is there", cmp.Or(m.version, "hookmux"))
	}
	var added wire.RemoteAdded
	if err := c.Call(ctx, wire.MethodRemoteAdd, wire.RemoteAddParams{Name: name, Target: target, Scope: scope,
		Program: m.program, Installed: installs, AuthSock: app.Getenv("SSH_AUTH_SOCK")}, &added); err != nil {
		return err
	}
	if err := setUp(ctx, app, target, m, added.Key, scope, folder, bare); err != nil {
		var gone wire.RemoteRemoved
		if undo := c.Call(ctx, wire.MethodRemoteRemove, wire.RemoteNameParams{Name: name}, &gone); undo != nil {
			return fmt.Errorf("%w; `hookmux remote remove %s` takes it off the list again", err, name)
		}
		if installs {
			return fmt.Errorf("%w; hookmux may be installed there: `hookmux remote remove --there %s` takes it away", err, target)
		}
		return err
	}
	return awaitLink(ctx, app, c, name)
}

// reach looks at the other machine. What needs you, such as a host key that ssh doesn't
// know yet, is asked once.
func reach(ctx context.Context, app *cmdutil.App, target string) (*machine, error) {
	m, err := probe(ctx, app, target)
	var failed *sshError
	if !errors.As(err, &failed) || failed.code != sshFailed {
		return m, err
	}
	if !failed.needsYou() {
		return nil, fmt.Errorf("%w; hookmux uses your ssh: `ssh %s` must work first", failed, target)
	}
	if err := interactive(ctx, app, target, "exit 0"); err != nil { // ssh said why
		return nil, cmdutil.FailWith(cmdutil.ExitFailed, fmt.Sprintf("couldn't log in to %[1]s; hookmux uses your ssh: `ssh %[1]s` must work first",
			target))
	}
	if m, err = probe(ctx, app, target); errors.As(err, &failed) && failed.code == sshFailed {
		return nil, cmdutil.FailWith(cmdutil.ExitFailed, fmt.Sprintf("ssh %s works only with you at the keyboard (%s); give it "+
			"a key first: ssh-copy-id %s", target, failed.why, target))
	}
	return m, err
}

// setUp installs hookmux there, if it isn't, and pairs it.
func setUp(ctx context.Context, app *cmdutil.App, target string, m *machine, key, scope, folder string, bare bool) error {
	script := ""
	if folder != "" {
		app.Say("copying hookmux to %s …", target)
		if err := copyPrograms(ctx, app, target, folder, m); err != nil {
			return err
		}
		if !bare {
			script = shellquote.Argument(m.program) + " install --yes || echo 'no agent was hooked'\n"
		}
	}
	app.Say("confirm it on %s:", target)
	script += "exec " + shellquote.Argument(m.program) + " remote accept --name " + shellquote.Argument(ownName()) +
		" --scope " + scope + " -- " + shellquote.Argument(key)
	return interactive(ctx, app, target, script)
}

// ownName returns what the other machine calls this one: decisions there name you.
func ownName() string {
	host, _ := os.Hostname()
	host, _, _ = strings.Cut(cmp.Or(host, "another machine"), ".")
	if who, err := user.Current(); err == nil && who.Username != "" {
		return who.Username + "@" + host
	}
	return host
}

// awaitLink waits until the link is there, and says what it shows.
func awaitLink(ctx context.Context, app *cmdutil.App, c *client.Client, name string) error {
	_ = c.Call(ctx, wire.MethodRemoteConnect, wire.RemoteNameParams{Name: name}, nil) // it's tried anyway
	var one wire.Host
	for until := time.Now().Add(connectTime); time.Now().Before(until); {
		var err error
		if one, err = hostNamed(ctx, c, name); err != nil {
			return err
		}
		if one.State == wire.HostConnected {
			app.Say("%s is connected: %s", name, counts(&one))
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return cmdutil.FailWith(cmdutil.ExitFailed, fmt.Sprintf("%s is paired, and not connected yet (%s: %s); `hookmux remote "+
		"doctor %s` says more", name, one.State, one.Why, name))
}

func counts(one *wire.Host) string {
	count := func(n int, what string) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	said := count(one.Sessions, "session")
	if one.Waiting > 0 {
		said += ", " + count(one.Waiting, "request") + " waiting"
	}
	return said
}
