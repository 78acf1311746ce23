// Package fleetcmd has `hookmux fleet`: machines that share one inbox and one journal.
package fleetcmd

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
		Long: `Machines of a fleet send what their agents do, without secrets, to one of them that
serves the fleet. Operators see every machine in hookmux ps and hookmux inbox, and answer
from there; readers only see. Members keep working while the server is away. Without a
command, shows whether this machine is connected to its fleet.`,
		Example: `  hookmux fleet init                 # on the machine that serves it
  hookmux fleet join CODE            # on another one
  hookmux fleet list`,
		Args: cmdutil.SubcommandArgs,
	}
	status := statusCommand(app)
	cmd.RunE = status.RunE
	cmd.Flags().AddFlagSet(status.Flags())
	cmd.AddCommand(initCommand(app), inviteCommand(app), joinCommand(app), listCommand(app), status,
		logCommand(app), policyCommand(app), removeCommand(app), leaveCommand(app))
	return cmd
}

// defaultPort is where a fleet is served.
const defaultPort = "4670"

func initCommand(app *cmdutil.App) *cobra.Command {
	var p wire.FleetInitParams
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Serve a fleet on this machine, and show how others join it",
		Long: `Starts hookmux-fleet, which the daemon keeps running from then on, and makes this machine
the fleet's first operator. Members connect over TLS to the port it listens on; each has a
key of its own.

With --nats, your own NATS cluster stores what is under way, on three nodes if you name three.
With --postgres, a database keeps the fleet's journal in place of a file on this machine.`,
		Example: `  hookmux fleet init
  hookmux fleet init --listen 10.0.0.5:4670
  hookmux fleet init --advertise fleet.example.org:4670
  hookmux fleet init --nats nats://a:4222,nats://b:4222 --creds f`,
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runInit(cmd.Context(), app, p, asJSON) },
	}
	f := cmd.Flags()
	f.StringVar(&p.Listen, "listen", "0.0.0.0:"+defaultPort, "address to listen on")
	f.StringSliceVar(&p.Advertise, "advertise", nil, "how other machines reach it (default: this machine's addresses)")
	f.StringVar(&p.Name, "name", "", "what to call this machine (default: its host name)")
	f.StringSliceVar(&p.NATS, "nats", nil, "your own NATS servers, of version 2.11 or newer with JetStream")
	f.StringVar(&p.Creds, "creds", "", "NATS credentials file")
	f.StringVar(&p.Postgres, "postgres", "", "file with the URL of the database for the fleet's journal")
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
	var status wire.FleetStatus
	if err := app.CallDaemon(ctx, wire.MethodFleetInit, p, &status); err != nil {
		return err
	}
	var code wire.FleetCode
	if err := app.CallDaemon(ctx, wire.MethodFleetInvite, wire.FleetInviteParams{}, &code); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(struct {
			wire.FleetStatus
			Invitation wire.FleetCode `json:"invitation"`
		}{status, code})
	}
	app.Say("this machine serves a fleet at %s, and is its operator %s", termsafe.Line(p.Listen, 60), status.Name)
	sayCode(app, code)
	return nil
}

func absolute(cwd, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(cwd, file)
}

func sayCode(app *cmdutil.App, code wire.FleetCode) {
	app.Say("On the other machine, before %s:\n  hookmux fleet join %s", code.Until.Local().Format("15:04"), code.Code)
	app.Say("The code is good for one machine, which becomes a %s; `hookmux fleet invite` makes another.", code.Role)
}

// ownAddresses are how other machines may reach this one, loopback last.
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

// findProgram finds hookmux-fleet beside this program, else on PATH.
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
		Short: "Make a code with which one machine can join",
		Long: `The code is good for one machine and ten minutes. Whoever has it can join as what you
choose here: a member sends what its agents do; a reader also sees every machine; an
operator also answers requests, invites and removes machines.`,
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
		Short: "Make this machine part of a fleet",
		Long: `From then on what agents do here goes to the fleet, without secrets, and operators of the
fleet see and answer this machine's requests. What happened before isn't sent.
hookmux config set fleet.content none leaves out what is said and done.`,
		Example: "  hookmux fleet join hmf1-…\n  hookmux fleet join hmf1-… --name build",
		Args:    cmdutil.ExactArgs("CODE"),
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
				state, behind := "lost", ""
				if m.Online {
					state = "connected"
				} else if m.Seen.IsZero() {
					state = "not seen"
				}
				if m.Refused > 0 {
					state += fmt.Sprintf(", %d refused: %s", m.Refused, m.Why)
				}
				if m.Backlog > 0 {
					behind = strconv.FormatInt(m.Backlog, 10)
				}
				seen := "never"
				if !m.Seen.IsZero() {
					seen = text.Moment(m.Seen, time.Now())
				}
				rows = append(rows, []string{m.Name, m.Role, termsafe.Line(state, 80), seen, behind, termsafe.Line(m.Version, 20), m.ID})
			}
			text.Table(app.Stdout, rows, app.Columns())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func read(ctx context.Context, app *cmdutil.App, method string, params, result any) error {
	return app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error { return c.Call(ctx, method, params, result) })
}

func statusCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show whether this machine is connected to its fleet", Example: "  hookmux fleet status",
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
				app.Say("this machine is in no fleet; `hookmux fleet init` serves one, `hookmux fleet join CODE` joins one")
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
			app.Say("%d events sent since the daemon started, %d waiting (%d at most)", s.Sent, s.Backlog, s.Most)
			if s.Dropped > 0 {
				app.Say("%d events were dropped: they were deleted here before the fleet had them", s.Dropped)
			}
			if s.Policy > 0 {
				app.Say("policy %d counts here; `hookmux fleet policy status` shows the others", s.Policy)
			}
			app.Say("content: %s (setting fleet.content)", s.Content)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func logCommand(app *cmdutil.App) *cobra.Command {
	var p wire.FleetLogParams
	var since string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "log", Short: "Show what agents did on every machine of the fleet",
		Example: "  hookmux fleet log\n  hookmux fleet log --host build -n 20 --since 1d",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if p.Since, err = cmdutil.Moment("--since", since); err != nil {
				return err
			}
			if p.Limit < 1 {
				return cmdutil.UsageError("-n must be at least 1")
			}
			var page wire.FleetLog
			if err := app.CallDaemon(cmd.Context(), wire.MethodFleetLog, p, &page); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(page)
			}
			if len(page.Events) == 0 {
				app.Say("no event has reached the fleet yet")
				return nil
			}
			rows := [][]string{{"TIME", "HOST", "AGENT", "SESSION", "EVENT", "TOOL", "DECISION", "BY"}}
			for _, e := range slices.Backward(page.Events) {
				verdict := e.Verdict
				if verdict == "none" {
					verdict = ""
				}
				rows = append(rows, []string{text.Moment(e.Time, time.Now()), e.Host, termsafe.Line(e.Agent, 20),
					termsafe.Line(wire.ShortID(e.Session), 20), termsafe.Line(e.Kind, 40), termsafe.Line(e.Tool, 30), verdict, termsafe.Line(e.By, 40)})
			}
			text.Table(app.Stdout, rows, app.Columns())
			return nil
		},
	}
	cmd.Flags().StringVar(&p.Host, "host", "", "only this machine, by name or ID")
	cmd.Flags().IntVarP(&p.Limit, "limit", "n", 50, "at most this many")
	cmd.Flags().StringVar(&since, "since", "", "nothing older: 1h, 2d, 2026-01-31")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func removeCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Take a machine out of the fleet; its connection ends at once",
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
		Long: `Works while the fleet's server is away, too; it then still lists the machine, and an
operator removes it. On the machine that serves the fleet, --delete-fleet ends
the fleet for every machine and deletes its journal.`,
		Example: "  hookmux fleet leave\n  hookmux fleet leave --delete-fleet",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.End {
				if err := app.Confirm("End the fleet for every machine and delete its journal?", yes); err != nil {
					return err
				}
			}
			var left wire.FleetLeft
			if err := app.CallDaemon(cmd.Context(), wire.MethodFleetLeave, p, &left); err != nil {
				return err
			}
			app.Say("this machine is in no fleet any more")
			if left.Unsent > 0 {
				app.Say("%d events never reached the fleet; they are in this machine's own log", left.Unsent)
			}
			if left.Kept != "" {
				app.Say("your cluster or database still has what it stored for the fleet, under HOOKMUX_ and hookmux_; delete it there (%s)",
					termsafe.Line(left.Kept, 200))
			}
			if !left.Told && left.Name != "" {
				app.Say("the fleet's server couldn't be reached and still lists it: on an operator's machine, "+
					"hookmux fleet remove %s", left.Name)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&p.End, "delete-fleet", false, "end the fleet that this machine serves, for every machine, and delete its journal")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	return cmd
}
