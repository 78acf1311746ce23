package remotecmd

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

func removeCommand(app *cmdutil.App) *cobra.Command {
	var here, there, asJSON bool
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a machine, and what remote add put there",
		Long: `Ends the link to a machine and deletes the key for it and the copy of its log. The other
machine forgets this one, and if remote add installed hookmux there, it's taken away again: hooks, programs
and records; you confirm that with a code that the other machine shows.

If the other machine can't be reached, it's removed here all the same, and hookmux says
what to run when it's back: with --there, what remote add put on USER@HOST is taken away.`,
		Example: "  hookmux remote remove ci\n  hookmux remote remove ci --here\n  hookmux remote remove --there build@ci.example.org",
		Args:    cmdutil.ExactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if there && (here || asJSON) {
				return cmdutil.UsageError("use --there without --here and --json")
			}
			if there {
				return removeThere(cmd.Context(), app, args[0])
			}
			return removeHost(cmd.Context(), app, args[0], here, asJSON)
		},
	}
	cmd.Flags().BoolVar(&here, "here", false, "leave hookmux installed on the other machine")
	cmd.Flags().BoolVar(&there, "there", false, "take hookmux, with its hooks and records, away from USER@HOST, which is off the list already")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON; implies --here")
	return cmd
}

func removeHost(ctx context.Context, app *cmdutil.App, name string, here, asJSON bool) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	known, err := hostNamed(ctx, c, name)
	if err != nil {
		return err
	}
	var gone wire.RemoteRemoved
	if err := c.Call(ctx, wire.MethodRemoteRemove, wire.RemoteNameParams{Name: known.Name}, &gone); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(gone)
	}
	app.Say("%s is removed here, with the copy of its log", gone.Name)
	forget, later := "", "" // what is left to do there, and how it's done later
	switch {
	case gone.Installed && !here: // what is taken away has this machine's key, too
		forget, later = cleanScript(gone.Program), "hookmux remote remove --there "+gone.Target
	case !gone.Left:
		program := shellquote.Argument(cmp.Or(gone.Program, "hookmux"))
		later = "ssh -t " + gone.Target + " " + program + " web devices remove " + gone.Device
		forget = program + " web devices list --json | grep -q " + gone.Device + " || exit 0; exec " + program + " web devices remove " + gone.Device
	default:
		return nil
	}
	if !gone.Left {
		if _, err := probe(ctx, app, gone.Target); err != nil {
			app.Say("%s couldn't be reached (%s). When it's back, run:", gone.Target, termsafe.Line(err.Error(), 160))
			fmt.Fprintf(app.Stdout, "\n  %s\n\n", later) // in one line, so that it can be copied
			return nil
		}
	}
	if !app.IsTerminal() {
		app.Say("to finish it there, run this in your terminal: %s", later)
		return nil
	}
	if err := interactive(ctx, app, gone.Target, forget); err != nil {
		return fmt.Errorf("%s isn't cleaned up (%w); to try again: %s", gone.Target, err, later)
	}
	if gone.Installed && !here {
		app.Say("hookmux is gone from %s", gone.Target)
	}
	return nil
}

// removeThere takes hookmux away from a machine that couldn't be reached when it was removed
// here.
func removeThere(ctx context.Context, app *cmdutil.App, target string) error {
	if err := checkTarget(target); err != nil {
		return err
	}
	if !app.IsTerminal() {
		return cmdutil.UsageError("run it in your terminal: the other machine shows a code there that you type")
	}
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	list, err := hosts(ctx, c)
	if err != nil {
		return err
	}
	for _, one := range list {
		if one.Name == target || one.Target == target {
			return cmdutil.UsageError("%s is still on the list; leave out --there", one.Name)
		}
	}
	m, err := probe(ctx, app, target)
	switch {
	case err != nil:
		return err
	case m.program != m.data+"/bin/hookmux":
		return cmdutil.FailWith(cmdutil.ExitFailed, fmt.Sprintf("there's nothing on %s that remote add put there", target))
	}
	if err := interactive(ctx, app, target, cleanScript(m.program)); err != nil {
		return err
	}
	app.Say("hookmux is gone from %s", target)
	return nil
}

// cleanScript removes hookmux from a machine where nothing but `hookmux remote add` put it.
// Settings that you wrote there stay. It leaves its fleet; one that it serves is left to
// you, with everything. The programs go before the daemon, which an agent that waits would
// start again; a copy stops it. If you don't let it, the copy is put back, so that you can
// try again. Of the folders that others use as well, empty ones go.
func cleanScript(program string) string {
	return `p=` + shellquote.Argument(program) + `
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
cp "$p" "$t/hookmux" || exit 1
case $("$t/hookmux" fleet status --json 2>/dev/null | tr -d ' \n') in
*'"serves":true'*) echo "it serves a fleet: end that first, with hookmux fleet leave --delete-fleet there" >&2; exit 1 ;;
*'"joined":true'*) "$t/hookmux" fleet leave || exit 1 ;;
esac
"$t/hookmux" uninstall --yes || exit 1
data="${XDG_DATA_HOME:-$HOME/.local/share}/hookmux"
rm -rf "$data/bin"
"$t/hookmux" daemon stop || { mkdir -p "$data/bin" && cp "$t/hookmux" "$data/bin/hookmux"; exit 1; }
rm -rf "$data" "${XDG_STATE_HOME:-$HOME/.local/state}/hookmux"
rmdir "${XDG_CONFIG_HOME:-$HOME/.config}/hookmux" 2>/dev/null
rmdir "$HOME/.config" "$HOME/.local/share" "$HOME/.local/state" "$HOME/.local" 2>/dev/null || :`
}

func doctorCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [NAME]",
		Short: "Find out why a machine isn't connected",
		Long: `Tries the way to a machine step by step: ssh, the login, hookmux there, and the link
itself. A lost link is tried again at once.`,
		Example: "  hookmux remote doctor\n  hookmux remote doctor ci",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return cmdutil.ExactArgs("NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := app.ReadDaemon(cmd.Context())
			if err != nil {
				return err
			}
			list, err := hosts(cmd.Context(), c)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				one, err := hostNamed(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				list = []wire.Host{one}
			}
			if len(list) == 0 {
				app.Say(noHosts)
				return nil
			}
			healthy := true
			for i := range list {
				healthy = examine(cmd.Context(), app, c, &list[i]) && healthy
			}
			if !healthy {
				return cmdutil.Exit(cmdutil.ExitFailed)
			}
			return nil
		},
	}
}

// examineTime is how long a link may take that is tried again.
const examineTime = 12 * time.Second

// examine looks at one host, and reports whether all is well.
func examine(ctx context.Context, app *cmdutil.App, c *client.Client, one *wire.Host) bool {
	step := func(ok bool, format string, args ...any) bool {
		mark := "ok  "
		if !ok {
			mark = "FAIL"
		}
		app.Say("%s  %s: %s", mark, one.Name, termsafe.Line(fmt.Sprintf(format, args...), 300))
		return ok
	}
	if one.State != wire.HostConnected {
		m, err := probe(ctx, app, one.Target)
		if err != nil {
			return step(false, "%v; `ssh %s` must work without a password", err, one.Target)
		}
		step(true, "ssh %s works (%s/%s)", one.Target, m.os, m.arch)
		if m.program == "" {
			return step(false, "there's no hookmux any more; `hookmux remote remove %s` and add it again", one.Name)
		}
		step(true, "%s is at %s", m.version, m.program)
		_ = c.Call(ctx, wire.MethodRemoteConnect, wire.RemoteNameParams{Name: one.Name}, nil) // the state says it
		for until := time.Now().Add(examineTime); one.State != wire.HostConnected && time.Now().Before(until); {
			time.Sleep(100 * time.Millisecond)
			if again, err := hostNamed(ctx, c, one.Name); err == nil {
				*one = again
			}
		}
	}
	if one.State != wire.HostConnected {
		return step(false, "%s: %s", linkWords(one, time.Now()), one.Why)
	}
	return step(true, "connected, version %s, may %s, %s", one.Version, one.Scope, counts(one))
}
