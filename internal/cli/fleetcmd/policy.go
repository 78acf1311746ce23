package fleetcmd

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/fleetpolicy"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

func policyCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Give every machine of the fleet the same rules and guards",
		Long: `A policy is a folder with rules (NAME.yaml) and, optionally, guard modes (config.json).
Operators push it; their machine signs it. A policy only adds restrictions: whatever a
machine's own rules and guards refuse stays refused.`,
		Example: "  hookmux fleet policy push ./rules\n  hookmux fleet policy status",
		Args:    cmdutil.SubcommandArgs,
	}
	status := policyStatusCommand(app)
	cmd.RunE = status.RunE
	cmd.Flags().AddFlagSet(status.Flags())
	cmd.AddCommand(pushCommand(app), status, clearCommand(app))
	return cmd
}

func pushCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:   "push FOLDER",
		Short: "Replace the fleet's rules with those in a folder",
		Long: `Replaces the fleet's rules with those in a folder. The rules and their examples are checked here, and again on every machine. A machine that
finds anything wrong keeps the previous policy as a whole.`,
		Example: "  hookmux fleet policy push ./rules",
		Args:    cmdutil.ExactArgs("FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := fleetpolicy.ReadFolder(absolute(app.Cwd(), args[0]))
			if pathError := (*fs.PathError)(nil); errors.As(err, &pathError) {
				return cmdutil.FolderError(args[0], err)
			}
			if err != nil {
				return cmdutil.UsageError("%v", err)
			}
			p := wire.FleetPushParams{}
			for _, f := range list {
				p.Files = append(p.Files, wire.PolicyFile(f))
			}
			return push(cmd.Context(), app, p)
		},
	}
}

func push(ctx context.Context, app *cmdutil.App, p wire.FleetPushParams) error {
	var policy wire.FleetPolicy
	if err := app.CallDaemon(ctx, wire.MethodFleetPush, p, &policy); err != nil {
		return err
	}
	app.Say("pushed policy %d to %s; `hookmux fleet policy status` shows where it's in force", policy.Version,
		text.Count(int64(len(policy.Members)), "machine"))
	return nil
}

func clearCommand(app *cmdutil.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "clear", Short: "Remove the fleet's policy from every machine", Example: "  hookmux fleet policy clear",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := app.Confirm("Remove the fleet's policy from every machine?", yes); err != nil {
				return err
			}
			return push(cmd.Context(), app, wire.FleetPushParams{Files: []wire.PolicyFile{}})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	return cmd
}

func policyStatusCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show which machines enforce the policy",
		Long: `Shows which machines enforce the policy. PROVEN is the latest call that an agent on that machine made under the policy. It proves
that the policy is enforced there, not only that it arrived.`,
		Example: "  hookmux fleet policy status",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var p wire.FleetPolicy
			if err := read(cmd.Context(), app, wire.MethodFleetPolicy, nil, &p); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(p)
			}
			sayPolicy(app, &p)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func sayPolicy(app *cmdutil.App, p *wire.FleetPolicy) {
	switch {
	case p.Version == 0:
		app.Say("the fleet has no policy; `hookmux fleet policy push FOLDER` pushes one")
		return
	case len(p.Files) == 0:
		app.Say("policy %d has no rules: %s cleared it", p.Version, termsafe.Line(p.By, 80))
	default:
		app.Say("policy %d by %s, %s: %s", p.Version, termsafe.Line(p.By, 80), text.Moment(p.Pushed, time.Now()),
			termsafe.Line(strings.Join(p.Files, ", "), 200))
	}
	rows := [][]string{{"NAME", "POLICY", "STATE", "PROVEN"}}
	for i := range p.Members {
		m := &p.Members[i]
		version, state, proof := "none", "behind", "not yet"
		if m.Version > 0 {
			version = strconv.FormatInt(m.Version, 10)
		}
		switch {
		case m.Why != "":
			state = m.Why
		case !m.Online:
			state, version = "lost", "unknown"
		case m.Version == p.Version:
			state = "in force"
		}
		if c := m.Contact; c != nil && c.Version == p.Version {
			proof = termsafe.Line(c.Agent+" "+c.Event, 50) + ", " + text.Moment(c.At, time.Now())
		}
		rows = append(rows, []string{m.Name, version, termsafe.Line(state, 80), proof})
	}
	text.Table(app.Stdout, rows, app.Columns())
}
