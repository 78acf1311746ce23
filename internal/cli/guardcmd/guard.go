// Package guardcmd has the verbs for what decides: guards, hooks, TypeScript
// modules, trust and settings.
package guardcmd

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/rulescmd"
	"github.com/hookmux/hookmux/internal/guard"
	"github.com/hookmux/hookmux/internal/guard/names"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// GuardCommand is `hookmux guard`.
func GuardCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "Built-in guards: what they stop, on every agent",
		Long: `Built-in guards read what a command line really runs (wrappers, pipes,
substitutions) and stop what you do not want. own-files is on from the start.`,
		Example: `  hookmux guard list
  hookmux guard on destructive
  hookmux guard log secrets    # only record what it would have stopped
  hookmux why 'sudo bash -c "rm -rf ~"'`,
		Args: cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(guardList(app), guardSwitch(app, "on"), guardSwitch(app, "off"), guardSwitch(app, "log"),
		guardExplain(app), guardAllow(app))
	return cmd
}

// guardStates reads how the guards are switched.
func guardStates(app *cmdutil.App, cmd *cobra.Command) (map[string]string, []string, error) {
	settings, err := readSettings(app, cmd)
	if err != nil {
		return nil, nil, err
	}
	states := map[string]string{}
	var allowed []string
	for _, s := range settings {
		if name, ok := hook.GuardName(s.Key); ok {
			if name == "allow" {
				_ = json.Unmarshal(s.Value, &allowed)
				continue
			}
			states[name] = cmdutil.PlainValue(s.Value)
		}
	}
	return states, allowed, nil
}

func guardList(app *cmdutil.App) *cobra.Command {
	var asJSON, rules bool
	cmd := &cobra.Command{
		Use: "list", Short: "Guards and how they are switched", Example: "  hookmux guard list --rules",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			states, allowed, err := guardStates(app, cmd)
			if err != nil {
				return err
			}
			if asJSON {
				type row struct {
					guard.Info
					State string `json:"state"`
				}
				list := []row{}
				for _, g := range guard.List() {
					list = append(list, row{g, states[g.Name]})
				}
				return app.PrintJSON(map[string]any{"guards": list, "allowed": append([]string{}, allowed...)})
			}
			var rows [][]string
			for _, g := range guard.List() {
				rows = append(rows, []string{g.Name, states[g.Name], g.What})
				if rules {
					for _, r := range g.Rules {
						rows = append(rows, []string{"  " + r.ID, "", r.What})
					}
				}
			}
			text.Table(app.Stdout, rows, app.Columns())
			if len(allowed) > 0 {
				app.Say("allowed always: %s", termsafe.Line(strings.Join(allowed, ", "), 300))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	cmd.Flags().BoolVar(&rules, "rules", false, "with every rule")
	return cmd
}

func guardNames() []string {
	var list []string
	for _, g := range names.All() {
		list = append(list, g.Name)
	}
	return list
}

func guardSwitch(app *cmdutil.App, to string) *cobra.Command {
	var ask, project bool
	short := "Switch a guard " + to
	if to == "log" {
		short = "Let a guard judge and only record what it would have stopped"
	}
	cmd := &cobra.Command{
		Use: to + " NAME…", Short: short, Example: "  hookmux guard " + to + " destructive",
		Args: cmdutil.SomeArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				if short, _ := hook.GuardName(arg); !slices.Contains(guardNames(), short) {
					return cmdutil.UsageError("there is no guard %q; there are %s", arg,
						strings.Join(guardNames(), ", "))
				}
			}
			value := to
			if ask {
				value = "ask"
			}
			b, _ := json.Marshal(value)
			for _, arg := range args {
				short, _ := hook.GuardName(arg)
				if err := setSetting(app, cmd, hook.GuardID(short), b, project); err != nil {
					return err
				}
			}
			return nil
		},
	}
	if to == "on" {
		cmd.Flags().BoolVar(&ask, "ask", false, "ask a person instead of denying")
	}
	if to != "off" {
		cmd.Flags().BoolVar(&project, "project", false, "only in this project (.hookmux/config.json)")
	}
	return cmd
}

func guardAllow(app *cmdutil.App) *cobra.Command {
	var once, drop bool
	cmd := &cobra.Command{
		Use:   "allow RULE",
		Short: "Let one rule pass, once or always",
		Long: `Lets what a rule objects to pass: with --once the next time only, within ten
minutes; else always, until taken back with --drop. RULE:COMMAND lets exactly one
command pass, always.`,
		Example: "  hookmux guard allow destructive.git-force-push --once\n  hookmux guard allow " +
			"destructive.git-force-push --drop\n  hookmux guard allow 'destructive.rm-broad:rm -rf /srv/cache'",
		Args: cmdutil.ExactArgs("RULE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if once && drop {
				return cmdutil.UsageError("--once and --drop exclude each other")
			}
			var said struct{ Text string }
			p := wire.AllowParams{Rule: args[0], Once: once, Drop: drop}
			if err := app.CallDaemon(cmd.Context(), wire.MethodAllow, p, &said); err != nil {
				return err
			}
			app.Say("%s", termsafe.Line(said.Text, 300))
			return nil
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "the next time only")
	cmd.Flags().BoolVar(&drop, "drop", false, "take an allowance back")
	return cmd
}

func guardExplain(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain COMMAND",
		Short: "What a command line really runs, and what the guards say",
		Long: "Shows the commands behind wrappers and pipes and what each guard and rule would\nsay, whether it " +
			"is switched on or not. Nothing is run.",
		Example: `  hookmux why 'sudo bash -c "rm -rf ~"'`,
		Args:    cmdutil.ExactArgs("COMMAND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return rulescmd.Examine(cmd.Context(), app, rulescmd.CommandEvent(args[0], app.Cwd(), "claude"), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}
