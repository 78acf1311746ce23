// Package fleetcmd implements `hookmux fleet`: machines that share one inbox and one journal.
package fleetcmd

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// FleetCommand is `hookmux fleet`.
func FleetCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Share one inbox and one log between many machines",
		Long: `One machine serves the fleet; the others join it and send it what their agents do, with
secrets removed. Operators see every machine in hookmux ps, the inbox, the live view and
the browser, and answer requests there. Readers only look. If the server goes away, every
machine keeps working on its own. Without a command, shows this machine's connection.`,
		Example: `  hookmux fleet init                 # on the machine that serves it
  hookmux fleet join CODE            # on another one
  hookmux fleet list`,
		Args: cmdutil.SubcommandArgs,
	}
	status := statusCommand(app)
	cmd.RunE = status.RunE
	cmd.Flags().AddFlagSet(status.Flags())
	cmd.AddCommand(initCommand(app), inviteCommand(app), joinCommand(app), listCommand(app), status,
		policyCommand(app), removeCommand(app), leaveCommand(app))
	return cmd
}

// defaultPort is the port on which a fleet is served.
const defaultPort = "4670"

func initCommand(app *cmdutil.App) *cobra.Command {
	var p wire.FleetInitParams
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Serve a fleet from this machine, and show how others join",
		Long: `Serves a fleet from this machine, and shows how others join. It starts hookmux-fleet, which the daemon keeps running, and makes this machine the fleet's
first operator. Other machines connect to it over TLS; each has its own key.

With --nats, your own NATS cluster holds events on their way, on three nodes if you name
at least three. With --postgres, a database holds the fleet's journal instead of a file here.`,
		Example: `  hookmux fleet init
  hookmux fleet init --listen 10.0.0.5:4670
  hookmux fleet init --advertise fleet.example.org:4670
  hookmux fleet init --nats nats://a:4222,nats://b:4222 --creds f`,
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runInit(cmd.Context(), app, p, asJSON) },
	}
	f := cmd.Flags()
	f.StringVar(&p.Listen, "listen", "0.0.0.0:"+defaultPort, "address to listen on")
	f.StringSliceVar(&p.Advertise, "advertise", nil, "address other machines connect to (default: this machine's addresses)")
	f.StringVar(&p.Name, "name", "", "what to call this machine (default: its host name)")
	f.StringSliceVar(&p.NATS, "nats", nil, "your own NATS servers (2.11 or newer, with JetStream)")
	f.StringVar(&p.Creds, "creds", "", "NATS credentials file")
	f.StringVar(&p.Postgres, "postgres", "", "file with the URL of a PostgreSQL database for the fleet's journal")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runInit(ctx context.Context, app *cmdutil.App, p wire.FleetInitParams, asJSON bool) error {
	host, port, err := net.SplitHostPort(p.Listen)
	if err != nil || port == "" {
		return cmdutil.UsageError("--listen %q isn't an address; write one like 0.0.0.0:%s", p.Listen, defaultPort)
	}
	for _, one := range p.Advertise {
		if _, port, err := net.SplitHostPort(one); err != nil || port == "" || port == "0" {
			return cmdutil.UsageError("--advertise %q isn't an address; write one like fleet.example.org:%s", one, defaultPort)
		}
	}
	if ip := net.ParseIP(host); len(p.Advertise) == 0 && port != "0" && (host == "" || ip != nil && ip.IsUnspecified()) {
		p.Advertise = ownAddresses(port)
	}
	if p.Program, err = findProgram(app); err != nil {
		return err
	}
	for _, one := range p.NATS {
		if u, err := url.Parse(one); err != nil || u.Host == "" {
			return cmdutil.UsageError("--nats %q isn't a server; write it like nats://host:4222", one)
		} else if u.User != nil {
			return cmdutil.UsageError("--nats %s has a password, which every list of processes would show; name a credentials file with --creds",
				u.Redacted())
		}
	}
	if p.Creds != "" && len(p.NATS) == 0 {
		return cmdutil.UsageError("--creds is for the servers that --nats names")
	}
	for _, file := range []*string{&p.Creds, &p.Postgres} {
		if *file == "" {
			continue
		}
		*file = absolute(app.Cwd(), *file)
		if _, err := os.Stat(*file); err != nil {
			return cmdutil.FileError(*file, err)
		}
	}
	p.Name = machineName(p.Name)
	var begun wire.FleetBegun
	if err := app.CallDaemon(ctx, wire.MethodFleetInit, p, &begun); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(begun)
	}
	app.Say("this machine now serves a fleet on %s, as its operator %s", termsafe.Line(begun.Listen, 60), begun.Name)
	sayCode(app, begun.Invitation)
	return nil
}

func absolute(cwd, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(cwd, file)
}

func sayCode(app *cmdutil.App, code wire.FleetCode) {
	app.Say("Run this on the other machine, before %s:", code.Until.Local().Format("15:04"))
	fmt.Fprintf(app.Stdout, "\n  hookmux fleet join %s\n\n", code.Code) // in one line, however long, so that it can be copied
	app.Say("The code works once, and makes the machine that uses it %s. `hookmux fleet invite` makes more.", withArticle(code.Role))
}

func withArticle(role string) string {
	if role == protocol.RoleOperator {
		return "an " + role
	}
	return "a " + role
}

// ownAddresses returns how other machines may reach this one, loopback last.
func ownAddresses(port string) (list []string) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return []string{net.JoinHostPort("127.0.0.1", port)}
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() && len(list) < 4 {
			list = append(list, net.JoinHostPort(n.IP.String(), port))
		}
	}
	return append(list, net.JoinHostPort("127.0.0.1", port))
}

const serverProgram = "hookmux-fleet"

// findProgram finds hookmux-fleet next to this program, else on PATH.
func findProgram(app *cmdutil.App) (string, error) {
	if self, err := os.Executable(); err == nil {
		for _, beside := range []string{self, resolved(self)} {
			if file := filepath.Join(filepath.Dir(beside), serverProgram); isProgram(file) {
				return file, nil
			}
		}
	}
	for _, dir := range filepath.SplitList(app.Getenv("PATH")) {
		if file := filepath.Join(dir, serverProgram); filepath.IsAbs(dir) && isProgram(file) {
			return file, nil
		}
	}
	return "", cmdutil.FailWith(cmdutil.ExitFailed, "hookmux-fleet isn't installed, and serves fleets: it's a program of its own, "+
		"beside hookmux in every download from https://github.com/hookmux/hookmux/releases (or `make install` in the source); "+
		"put it next to hookmux or on your PATH")
}

func resolved(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	return file
}

func isProgram(file string) bool {
	_, err := exec.LookPath(file)
	return err == nil
}

func machineName(name string) string {
	if name == "" {
		name, _ = os.Hostname() // the fleet finds one in its place
	}
	return protocol.HostName(name)
}

func inviteCommand(app *cmdutil.App) *cobra.Command {
	var p wire.FleetInviteParams
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Make a code that lets one machine join",
		Long: `A code lets one machine join, within ten minutes, in the role you choose:

  member     sends what its agents do, and sees no other machine
  reader     also sees every machine
  operator   also answers requests, manages machines and pushes policies`,
		Example: "  hookmux fleet invite\n  hookmux fleet invite --role operator",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(protocol.Roles, p.Role) {
				return cmdutil.UnknownName("role", p.Role, protocol.Roles, "")
			}
			var code wire.FleetCode
			if err := app.CallDaemon(cmd.Context(), wire.MethodFleetInvite, p, &code); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(code)
			}
			sayCode(app, code)
			return nil
		},
	}
	cmd.Flags().StringVar(&p.Role, "role", protocol.RoleMember, "what the machine may do: member, reader or operator")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func joinCommand(app *cmdutil.App) *cobra.Command {
	var p wire.FleetJoinParams
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "join CODE",
		Short: "Add this machine to a fleet",
		Long: `Adds this machine to a fleet. From now on, the fleet gets what agents do on this machine, with secrets removed, and its
operators can see and answer your agents' requests. Nothing from before is sent. To keep
prompts, commands and results on this machine: hookmux config set fleet.content none`,
		Example: "  hookmux fleet join hmf1-…\n  hookmux fleet join hmf1-… --name build",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdutil.UsageError("which fleet? Run `hookmux fleet invite` on the machine that serves it; it prints " +
					"the command to run here")
			}
			return cmdutil.ExactArgs("CODE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Code, p.Name = args[0], machineName(p.Name)
			if _, err := protocol.ReadCode(p.Code); err != nil {
				return cmdutil.UsageError("%v", err)
			}
			var status wire.FleetStatus
			if err := app.CallDaemon(cmd.Context(), wire.MethodFleetJoin, p, &status); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(status)
			}
			app.Say("joined as %s (%s); `hookmux fleet status` shows the connection, `hookmux fleet leave` ends it", status.Name,
				status.Role)
			return nil
		},
	}
	cmd.Flags().StringVar(&p.Name, "name", "", "what to call this machine (default: its host name)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func listCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the machines of the fleet", Example: "  hookmux fleet list", Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list []wire.FleetMember
			if err := read(cmd.Context(), app, wire.MethodFleetList, nil, &list); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(list)
			}
			rows := [][]string{{"NAME", "ROLE", "STATE", "SEEN", "BEHIND", "VERSION", "ID"}}
			for _, m := range list {
				state, behind, seen := "lost", "", "never"
				if m.Online {
					state = "connected"
				} else if m.Seen.IsZero() {
					state = "not seen"
				}
				if m.Backlog > 0 {
					behind = text.Thousands(m.Backlog)
				}
				if !m.Seen.IsZero() {
					seen = text.Moment(m.Seen, time.Now())
				}
				rows = append(rows, []string{m.Name, m.Role, state, seen, behind, termsafe.Line(m.Version, 20), m.ID})
			}
			text.Table(app.Stdout, rows, app.Columns())
			sayRefused(app, list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// sayRefused names machines that did what they may not.
func sayRefused(app *cmdutil.App, list []wire.FleetMember) {
	for _, m := range list {
		if m.Refused > 0 {
			app.Say("%s was refused %s by the server; the last time: %s", m.Name, times(m.Refused), termsafe.Line(m.Why, 200))
		}
	}
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return text.Thousands(n) + " times"
}

func read(ctx context.Context, app *cmdutil.App, method string, params, result any) error {
	return app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error { return c.Call(ctx, method, params, result) })
}

// mustBeIn returns an error if this machine is in no fleet.
func mustBeIn(ctx context.Context, app *cmdutil.App) error {
	var s wire.FleetStatus
	if err := app.CallDaemon(ctx, wire.MethodFleetStatus, nil, &s); err != nil || s.Joined {
		return err
	}
	return cmdutil.FailWith(cmdutil.ExitFailed, wire.NoFleet)
}

func statusCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show this machine's connection to its fleet", Example: "  hookmux fleet status",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var s wire.FleetStatus
			if err := read(cmd.Context(), app, wire.MethodFleetStatus, nil, &s); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(s)
			}
			if !s.Joined {
				app.Say("%s", wire.NoFleet)
				return nil
			}
			serves := ""
			if s.Serves {
				serves = ", and serves the fleet"
			}
			app.Say("%s (%s), %s%s", s.Name, s.ID, s.Role, serves)
			if s.Connected {
				app.Say("connected to %s since %s", termsafe.Line(s.Servers[0], 60), text.Moment(s.Since, time.Now()))
			} else {
				app.Say("not connected since %s: %s", text.Moment(s.Since, time.Now()), s.Why)
			}
			app.Say("%s sent since the daemon started, %s waiting (at most %s can wait)", text.Count(s.Sent, "event"),
				text.Thousands(s.Backlog), text.Thousands(s.Most))
			if s.Connected && s.Role != protocol.RoleMember {
				var list []wire.FleetMember
				if read(cmd.Context(), app, wire.MethodFleetList, nil, &list) == nil { // the connection may just have gone
					sayRefused(app, list)
				}
			}
			if s.Dropped > 0 {
				app.Say("%s dropped: too many were waiting, or they were deleted here before the fleet had them", text.Count(s.Dropped, "event"))
			}
			if s.Policy > 0 {
				app.Say("policy %d is in force here; `hookmux fleet policy status` shows the other machines", s.Policy)
			}
			if s.Content == "none" {
				app.Say("prompts, commands and results stay on this machine (fleet.content is none)")
			} else {
				app.Say("prompts, commands and results are sent with secrets removed (fleet.content is redacted)")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func removeCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a machine from the fleet and disconnect it", Long: "Removes a machine from the fleet and disconnects it.",
		Example: "  hookmux fleet remove build", Args: cmdutil.ExactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := app.CallDaemon(cmd.Context(), wire.MethodFleetRemove, wire.FleetMemberParams{Member: args[0]}, nil); err != nil {
				return err
			}
			app.Say("removed: %s", args[0])
			return nil
		},
	}
}

func leaveCommand(app *cmdutil.App) *cobra.Command {
	var p wire.FleetLeaveParams
	var yes bool
	cmd := &cobra.Command{
		Use:   "leave",
		Short: "Take this machine out of its fleet",
		Long: `Takes this machine out of its fleet. This also works while the fleet's server is away. The server then still lists this
machine, and an operator has to remove it. On the machine that serves the fleet,
--delete-fleet ends the fleet for every machine and deletes its journal.`,
		Example: "  hookmux fleet leave\n  hookmux fleet leave --delete-fleet",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.End {
				if err := mustBeIn(cmd.Context(), app); err != nil {
					return err
				}
				if err := app.Confirm("End the fleet for every machine and delete its journal?", yes); err != nil {
					return err
				}
			}
			var left wire.FleetLeft
			if err := app.CallDaemon(cmd.Context(), wire.MethodFleetLeave, p, &left); err != nil {
				return err
			}
			if p.End {
				app.Say("the fleet is gone, and so is its journal")
			} else {
				app.Say("this machine has left the fleet")
			}
			if left.Unsent > 0 {
				app.Say("%s never reached the fleet; `hookmux log` still has what happened here", text.Count(int64(left.Unsent), "event"))
			}
			for _, one := range left.Kept {
				app.Say("left behind: %s", termsafe.Line(one, 300))
			}
			if !left.Told && left.Name != "" {
				app.Say("the fleet's server still lists this machine (%s); on an operator's machine, run `hookmux fleet remove %s`",
					termsafe.Line(left.Why, 200), left.Name)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&p.End, "delete-fleet", false, "end the fleet that this machine serves, for every machine, and delete its journal")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	return cmd
}
