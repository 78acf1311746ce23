// Package remotecmd implements `hookmux remote`: other machines over ssh, whose sessions and
// requests show up here.
package remotecmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/fleet/remote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// RemoteCommand is `hookmux remote`.
func RemoteCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error { return listHosts(cmd.Context(), app, asJSON) }
	cmd := &cobra.Command{
		Use:   "remote",
		Short: "See and answer agents on other machines over ssh",
		Long: `Lists the machines whose sessions and requests show up here. They're in ` + "`hookmux ps`" + `,
the inbox and the live view, with the machine's name in front of their IDs, and you
answer them as you answer those of this machine.

A host needs nothing but a login by ssh without a password. If the link is lost, agents
there ask in their own terminals.`,
		Example: "  hookmux remote add build@ci.example.org\n  hookmux remote list\n  hookmux remote doctor ci",
		Args:    cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdutil.UnknownCommand(cmd.Root(), append([]string{"remote"}, args...))
			}
			return list(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	listed := &cobra.Command{Use: "list", Short: "List the hosts and the state of their links",
		Example: "  hookmux remote list --json", Args: cmdutil.ExactArgs(), RunE: list}
	listed.Flags().BoolVar(&asJSON, "json", false,
		"print JSON: [{name, target, scope, state: connecting|connected|lost|refused, since, why, version, sessions, waiting}]")
	cmd.AddCommand(addCommand(app), listed, removeCommand(app), doctorCommand(app), acceptCommand(app))
	return cmd
}

// hosts asks the daemon which hosts there are over ssh. Machines of the fleet are those of
// `hookmux fleet`.
func hosts(ctx context.Context, c *client.Client) ([]wire.Host, error) {
	list := []wire.Host{}
	err := c.Call(ctx, wire.MethodHosts, nil, &list)
	return slices.DeleteFunc(list, func(one wire.Host) bool { return one.Kind == wire.HostFleet }), err
}

func listHosts(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	var list []wire.Host
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) (err error) {
		list, err = hosts(ctx, c)
		return err
	}); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(list)
	}
	if len(list) == 0 {
		app.Say(noHosts)
		return nil
	}
	rows := [][]string{{"NAME", "HOST", "MAY", "LINK", "SESSIONS", "WAITING", "VERSION"}}
	for _, one := range list {
		may := one.Scope
		if may == wire.ScopeRead {
			may = "only read"
		}
		rows = append(rows, []string{one.Name, one.Target, may, linkWords(&one, time.Now()), fmt.Sprint(one.Sessions),
			fmt.Sprint(one.Waiting), one.Version})
	}
	text.Table(app.Stdout, rows, app.Columns())
	for _, one := range list {
		if one.Why != "" {
			app.Say("%s: %s", one.Name, termsafe.Line(one.Why, 200))
		}
	}
	return nil
}

const noHosts = "there are no other machines; `hookmux remote add user@host` adds one"

// linkWords says how a link is: "connected", "lost 2m".
func linkWords(one *wire.Host, now time.Time) string {
	if one.State == wire.HostConnected || one.Since.IsZero() {
		return one.State
	}
	return one.State + " " + text.Ago(now.Sub(one.Since))
}

// hostNamed finds a host by its name.
func hostNamed(ctx context.Context, c *client.Client, name string) (wire.Host, error) {
	list, err := hosts(ctx, c)
	if err != nil {
		return wire.Host{}, err
	}
	var known []string
	for _, one := range list {
		if one.Name == name || one.Target == name {
			return one, nil
		}
		known = append(known, one.Name)
	}
	return wire.Host{}, cmdutil.UnknownName("host", name, known, "hookmux remote list")
}

// acceptCommand runs on the other machine, at the end of `hookmux remote add`.
func acceptCommand(app *cmdutil.App) *cobra.Command {
	var p wire.RemoteAcceptParams
	cmd := &cobra.Command{
		Use:    "accept KEY --name NAME",
		Short:  "Let another machine see and answer the agents on this one",
		Hidden: true, // remote add runs it over ssh
		Long: `Pairs another machine with this one, by its key. hookmux remote add runs this here; you
confirm it with a code. ` + "`hookmux web devices`" + ` lists paired machines and removes them.`,
		Example: "  hookmux remote accept BIBk… --name laptop",
		Args:    cmdutil.ExactArgs("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Key = args[0]
			var device wire.WebDevice
			if err := app.CallDaemon(cmd.Context(), wire.MethodRemoteAccept, p, &device); err != nil {
				return err
			}
			app.Say("paired with %s (%s)", device.Name, device.ID)
			return nil
		},
	}
	cmd.Flags().StringVar(&p.Name, "name", "", "what to call the other machine")
	cmd.Flags().StringVar(&p.Scope, "scope", wire.ScopeAnswer, "read or answer")
	return cmd
}

// nameFor returns what a host is called unless you say otherwise: the first part of its name.
func nameFor(target string) string {
	_, host, found := strings.Cut(target, "@")
	if !found {
		host = target
	}
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 'a' && r <= 'z' }) { // not an address
		host, _, _ = strings.Cut(host, ".")
	}
	return strings.Trim(host, "[]")
}

// checkTarget rejects what isn't a host.
func checkTarget(to string) error {
	if err := remote.CheckTarget(to); err != nil {
		return cmdutil.UsageError("%v", err)
	}
	return nil
}
